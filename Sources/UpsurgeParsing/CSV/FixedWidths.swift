import UpsurgeRecords

/// Where the fields of a line stand that has no marks between them, counted in characters of the decoded text.
///
///     id  name      since         widths: id 4, name 10, since the rest
///       1 Ännchen   2024-01-31    the field `Ännchen` has seven characters, whatever its bytes
///
/// A character is a code point of Unicode. Blanks at both ends of a field fill it up, and are no part of its value.
public struct FixedWidths: Sendable, Equatable {
  /// One field of a line.
  public struct Field: Sendable, Equatable {
    /// The characters of the line before it.
    public var start: Int
    /// How many characters the field has; nil: up to the end of the line.
    public var width: Int?

    public init(start: Int, width: Int?) { (self.start, self.width) = (start, width) }
  }

  /// In the order of the line; none overlaps another.
  public var fields: [Field]
  /// What a line below the header was drawn with, from which the fields were found; nil where they were given. Between such
  /// fields a line has blanks only.
  public var ruler: UInt8?

  public init(fields: [Field], ruler: UInt8? = nil) { (self.fields, self.ruler) = (fields, ruler) }

  /// Fields side by side.
  public init(_ widths: [Int]) {
    fields = []
    var start = 0
    for width in widths {
      fields.append(Field(start: start, width: width))
      start += width
    }
  }

  /// No line is cut beyond so many characters.
  package static let characterLimit = 1 << 20

  /// The delimiter of a dialect with widths, by which nothing is parted: no text has it.
  static let delimiter: [UInt8] = [0x1C]

  /// `10,5,8`; fields that follow others with a gap are said with it: `10,:1,5`.
  package var text: String {
    var parts: [String] = []
    var end = 0
    for field in fields {
      if field.start > end { parts.append(":\(field.start - end)") }
      parts.append(field.width.map(String.init) ?? "*")
      end = field.start + (field.width ?? 0)
    }
    return parts.joined(separator: ",")
  }

  /// - Throws: `usage` for fields that no line can have.
  package func validate() throws(UpsurgeError) {
    guard !fields.isEmpty, fields.count <= HeaderNames.fieldLimit else {
      throw Self.wrong("\(.widths) names \(fields.isEmpty ? "no field" : "too many fields")")
    }
    var end = 0
    for (index, field) in fields.enumerated() {
      let width = field.width ?? 1
      if field.width == nil && index + 1 < fields.count {
        throw Self.wrong("\(.widths, "*") is the rest of a line, and stands before another field")
      }
      guard width > 0, width <= Self.characterLimit, field.start >= end,
        field.start <= Self.characterLimit - width
      else {
        throw Self.wrong(
          "a width of \(.widths) is not from 1 to \(Self.characterLimit), or all of them are too wide together"
        )
      }
      end = field.start + width
    }
  }

  private static func wrong(_ message: Wording) -> UpsurgeError {
    UpsurgeError(
      .usage, message, hint: "give the characters of each field: \(.widths, "id:6,name:20,note:*")")
  }
}

/// Goes through the fields of one line.
struct FixedLine {
  /// What was found next.
  enum Piece: Equatable {
    /// A field, without the blanks around it.
    case field(start: Int, stop: Int)
    /// The line has no more fields, and nothing after them but blanks.
    case end
    /// A text after the last field, without blanks at its end.
    case surplus(start: Int, stop: Int)
    /// A text between two fields, where the ruler has a blank.
    case crossed
  }

  private let bytes: UnsafePointer<UInt8>
  /// The end of the line.
  private let stop: Int
  private let isASCII: Bool
  private(set) var at: Int
  private var column = 0

  init(_ bytes: UnsafePointer<UInt8>, from start: Int, to stop: Int) {
    (self.bytes, self.stop, at) = (bytes, stop, start)
    var all: UInt8 = 0
    for index in start..<max(start, stop) { all |= bytes[index] }
    isASCII = all < 0x80
  }

  /// Whether nothing but blanks is left.
  var isBlank: Bool { firstText(from: at, to: stop) == nil }

  /// - Parameter index: how many fields of the line were taken.
  mutating func next(_ widths: UnsafeBufferPointer<FixedWidths.Field>, _ index: Int, isRuled: Bool) -> Piece {
    guard index < widths.count else {
      guard let start = firstText(from: at, to: stop) else { return .end }
      return .surplus(start: start, stop: lastText(from: start, to: stop))
    }
    let field = widths[index]
    if field.start > column {
      let gap = at
      skip(field.start - column)
      column = field.start
      if isRuled && firstText(from: gap, to: at) != nil { return .crossed }
    }
    if at >= stop { return .end }
    let start = at
    if let width = field.width {
      skip(width)
      column += width
    } else {
      at = stop
    }
    guard let first = firstText(from: start, to: at) else { return .field(start: start, stop: start) }
    return .field(start: first, stop: lastText(from: first, to: at))
  }

  /// Steps over characters, as far as the line goes.
  private mutating func skip(_ count: Int) {
    if isASCII {
      at = min(stop, at + count)
      return
    }
    var left = count
    while at < stop {
      // What continues a character belongs to it.
      if bytes[at] & 0xC0 != 0x80 {
        if left == 0 { return }
        left -= 1
      }
      at += 1
    }
  }

  private func firstText(from start: Int, to stop: Int) -> Int? {
    var at = start
    while at < stop && bytes[at] == FieldReader.blank { at += 1 }
    return at < stop ? at : nil
  }

  private func lastText(from start: Int, to stop: Int) -> Int {
    var stop = stop
    while stop > start && bytes[stop - 1] == FieldReader.blank { stop -= 1 }
    return stop
  }
}
