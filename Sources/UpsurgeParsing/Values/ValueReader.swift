/// Reads the values of one column as its formats say, from bytes to bytes. It is compiled once, before the first record, and owns
/// nothing: what it points at is its ``ValueReaders``'.
///
/// The steps, each on what the one before has left: blanks are trimmed, texts that mean NULL are NULL, and the rest is a date, a
/// number, a truth, or text.
struct ValueReader: @unchecked Sendable {
  // Sendable because nothing that it points at ever changes.

  /// What a column's values are.
  enum Form: UInt8, Sendable {
    case none, date, number, truth
  }

  /// What became of a value.
  struct Value {
    enum Kind: UInt8 {
      /// Text of the value itself, from `start` on.
      case kept
      /// Text that was written to the output.
      case written
      case null
      /// Nothing is left but blanks that were trimmed.
      case blank
      case yes, no
      case fault
    }

    var kind: Kind
    var fault = ValueFault.none
    var start = 0
    var count = 0
  }

  var form: Form
  var trims: Bool
  /// Texts that are NULL.
  var nulls: WordList
  /// Of a date, and the most bytes that come out.
  var date: DateReader?
  var dateByteCount: Int
  /// Of a number.
  var number: NumberForm?
  /// Words that mean yes, and those that mean no, in small letters.
  var yes: WordList
  var no: WordList

  /// Bytes of output that a value of `count` bytes may need.
  @inline(__always)
  func outputLimit(_ count: Int) -> Int {
    switch form {
    case .date: dateByteCount
    case .number: count
    case .truth, .none: 0
    }
  }

  /// Reads the value of `count` bytes; `output` has room for `outputLimit(count)`.
  @inline(__always)
  func read(_ text: UnsafePointer<UInt8>, count: Int, into output: UnsafeMutablePointer<UInt8>) -> Value {
    var start = 0
    var stop = count
    if trims {
      while start < stop && FieldBlank.isBlank(text[start]) { start += 1 }
      while stop > start && FieldBlank.isBlank(text[stop - 1]) { stop -= 1 }
    }
    let left = stop - start
    if left == 0 {
      if form != .none { return Value(kind: .null) }
      return Value(kind: count == 0 ? .kept : .blank)
    }
    if nulls.byteCount > 0 && nulls.holds(text + start, left, ignoringCase: false) {
      return Value(kind: .null)
    }
    switch form {
    case .none: return Value(kind: .kept, start: start, count: left)
    case .date:
      guard let date else { return Value(kind: .fault, fault: .dateForm) }
      let (byteCount, fault) = date.read(text + start, count: left, into: output)
      return fault.isSet ? Value(kind: .fault, fault: fault) : Value(kind: .written, count: byteCount)
    case .number:
      guard let number else { return Value(kind: .fault, fault: .number) }
      let byteCount = number.normalise(text + start, count: left, into: output)
      return byteCount == 0 ? Value(kind: .fault, fault: .number) : Value(kind: .written, count: byteCount)
    case .truth:
      if yes.holds(text + start, left, ignoringCase: true) { return Value(kind: .yes) }
      return no.holds(text + start, left, ignoringCase: true)
        ? Value(kind: .no) : Value(kind: .fault, fault: .truth)
    }
  }
}

/// Words to look a value up in, each with its length (four bytes) before it. It owns nothing.
struct WordList {
  var bytes: UnsafePointer<UInt8>
  var byteCount: Int

  /// - Parameter ignoringCase: whether large letters match, too; the words are in small letters then.
  @inline(never)
  func holds(_ text: UnsafePointer<UInt8>, _ count: Int, ignoringCase: Bool) -> Bool {
    var at = 0
    while at < byteCount {
      let wordByteCount = Int(UnsafeRawPointer(bytes + at).loadUnaligned(as: UInt32.self))
      at += 4
      if wordByteCount == count && isSame(bytes + at, text, count, ignoringCase) { return true }
      at += wordByteCount
    }
    return false
  }

  private func isSame(
    _ word: UnsafePointer<UInt8>, _ text: UnsafePointer<UInt8>, _ count: Int, _ ignoringCase: Bool
  ) -> Bool {
    var before: UInt8 = 0
    for index in 0..<count {
      let byte = text[index]
      let small = ignoringCase ? ValueFormats.Truths.smallLetter(byte, after: before) : byte
      if small != word[index] { return false }
      before = byte
    }
    return true
  }
}
