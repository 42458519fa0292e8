import UpsurgeRecords

/// Compiles the formats of columns to readers, and owns what these point at.
package final class ValueReaders: @unchecked Sendable {
  // Sendable because it belongs to one parser, which is on one thread at a time.

  let formats: ValueFormats
  private let readsNumbers: Bool
  private let readsBlobs: Bool
  private var steps: [UnsafeMutablePointer<DateStep>] = []
  private var words: [UnsafeMutablePointer<UInt8>] = []

  /// - Parameters:
  ///   - readsNumbers: false while types are looked for, as nobody knows the columns of numbers then.
  ///   - readsBlobs: false where text of BLOB columns is left to who decodes it.
  /// - Throws: `usage` for formats that cannot be.
  package init?(
    _ formats: ValueFormats, readsNumbers: Bool = true, readsBlobs: Bool = true
  ) throws(UpsurgeError) {
    try formats.validate()
    if formats.isEmpty { return nil }
    self.formats = formats
    self.readsNumbers = readsNumbers
    self.readsBlobs = readsBlobs
  }

  deinit {
    for pointer in steps { pointer.deallocate() }
    for pointer in words { pointer.deallocate() }
  }

  /// The reader of a column; nil where its values are what they say.
  func reader(of column: ColumnTarget) -> ValueReader? {
    if column.isBlob && !readsBlobs { return nil }
    let name = column.name.nameKey
    let format = formats.dates.first { $0.key.nameKey == name }?.value
    let truths = formats.truths.first { $0.key.nameKey == name }?.value
    let nulls = formats.nulls.first { $0.key.nameKey == name }?.value ?? []
    let canBeNumber = readsNumbers && column.isNumber && format == nil && truths == nil
    let numbers = canBeNumber ? formats.numberForm(of: column.name) : nil
    if formats.trim == .none && format == nil && truths == nil && nulls.isEmpty && numbers == nil { return nil }
    let form: ValueReader.Form = format != nil ? .date : truths != nil ? .truth : numbers != nil ? .number : .none
    let lists: (yes: [String], no: [String]) = truths?.lists ?? ([], [])
    let date = format.flatMap(dateReader)
    return ValueReader(
      form: form, trims: formats.trim == .blanks, nulls: list(nulls), date: date,
      dateByteCount: date?.outputLimit ?? 0, number: numbers, yes: list(lists.yes),
      no: list(lists.no))
  }

  /// What a column is that has a format, where that says more than its values.
  package static func form(of column: String, in formats: ValueFormats) -> ColumnForm? {
    let name = column.nameKey
    if formats.truths.contains(where: { $0.key.nameKey == name }) { return .truth }
    guard let format = formats.dates.first(where: { $0.key.nameKey == name })?.value else { return nil }
    return (try? DateFormat(format)).map { .date(serverType: $0.serverType) }
  }

  /// What comes out of a column with a format.
  package enum ColumnForm {
    case truth
    case date(serverType: String)
  }

  private func dateReader(_ format: String) -> DateReader? {
    // It was looked at before.
    guard let format = try? DateFormat(format) else { return nil }
    let pointer = UnsafeMutablePointer<DateStep>.allocate(capacity: max(format.steps.count, 1))
    for (index, step) in format.steps.enumerated() { (pointer + index).initialize(to: step) }
    steps.append(pointer)
    return DateReader(steps: UnsafePointer(pointer), stepCount: format.steps.count, parts: format.parts)
  }

  private func list(_ texts: [String]) -> WordList {
    var bytes: [UInt8] = []
    for text in texts {
      withUnsafeBytes(of: UInt32(truncatingIfNeeded: text.utf8.count)) { bytes += $0 }
      bytes += text.utf8
    }
    let pointer = UnsafeMutablePointer<UInt8>.allocate(capacity: max(bytes.count, 1))
    for (index, byte) in bytes.enumerated() { pointer[index] = byte }
    words.append(pointer)
    return WordList(bytes: UnsafePointer(pointer), byteCount: bytes.count)
  }
}
