import Upsurge
import UpsurgeInput
import UpsurgeRecords

/// What `upsurge_feeds` holds of how the last accepted delivery was written, as JSON.
enum FeedShapeText {
  static func encode(_ shape: FeedShape) -> String {
    var out = JSONText()
    out.beginObject()
    out.key("reading")
    out.string(shape.reading)
    out.key("columns")
    out.strings(shape.fields)
    func text(_ key: String, _ value: String?) {
      guard let value else { return }
      out.key(key)
      out.string(value)
    }
    func number(_ key: String, _ value: Int?) {
      guard let value else { return }
      out.key(key)
      out.number(Int64(value))
    }
    text("format", shape.format?.rawValue)
    text("delimiter", shape.delimiter.map { String(decoding: $0, as: UTF8.self) })
    text("quote", shape.quote.map(word))
    text("escape", shape.escape.map(word))
    if shape.hasNoComments == true {
      out.key("no_comments")
      out.bool(true)
    }
    number("header", shape.headerLineCount)
    number("skipped", shape.skippedLineCount)
    number("fields", shape.fieldCount)
    text("encoding", shape.encoding?.rawValue)
    out.endObject()
    return String(decoding: out.bytes, as: UTF8.self)
  }

  /// What `encode` has written; anybody may have edited it.
  /// - Throws: `guardRefused` where no delivery could be read so.
  static func shape(_ text: String) throws(UpsurgeError) -> FeedShape {
    guard let value = try? JSONValue(text), let reading = value["reading"]?.text,
      let columns = value["columns"]?.texts
    else { throw FeedText.unreadable }
    var shape = FeedShape(reading: reading)
    shape.fields = columns
    shape.format = value["format"]?.text.flatMap { FeedShape.Format(rawValue: $0) }
    if let delimiter = value["delimiter"]?.text { shape.delimiter = Array(delimiter.utf8) }
    shape.quote = try value["quote"].map { value throws(UpsurgeError) in try mark(value) }
    shape.escape = try value["escape"].map { value throws(UpsurgeError) in try mark(value) }
    if value["no_comments"] == .bool(true) { shape.hasNoComments = true }
    shape.headerLineCount = try count(value["header"], limit: 100)
    shape.skippedLineCount = try count(value["skipped"], limit: 1_000_000)
    shape.fieldCount = try count(value["fields"], limit: 1_000_000)
    if let name = value["encoding"]?.text {
      guard let encoding = TextEncoding(name: name), encoding != .auto else { throw FeedText.unreadable }
      shape.encoding = encoding
    }
    try check(shape)
    return shape
  }

  /// - Throws: `guardRefused` for marks that no records could be told apart by.
  private static func check(_ shape: FeedShape) throws(UpsurgeError) {
    var dialect = CSVDialect()
    if let delimiter = shape.delimiter { dialect.delimiter = delimiter }
    if let quote = shape.quote { dialect.quote = quote.mark }
    if let escape = shape.escape { dialect.escape = escape.mark }
    if dialect.delimiter.count > 16 { throw FeedText.unreadable }
    do throws(UpsurgeError) { try dialect.validate() } catch { throw FeedText.unreadable }
  }

  private static func word(_ mark: CSVOverrides.Mark) -> String {
    mark.mark.map { String(decoding: [$0], as: UTF8.self) } ?? ""
  }

  private static func mark(_ value: JSONValue) throws(UpsurgeError) -> CSVOverrides.Mark {
    guard let text = value.text, text.utf8.count <= 1 else { throw FeedText.unreadable }
    return text.utf8.first.map { .byte($0) } ?? .none
  }

  private static func count(_ value: JSONValue?, limit: Int64) throws(UpsurgeError) -> Int? {
    guard let value else { return nil }
    guard case .integer(let count) = value, (0...limit).contains(count) else { throw FeedText.unreadable }
    return Int(count)
  }
}

extension CSVOverrides.Mark {
  fileprivate var mark: UInt8? {
    switch self {
    case .none: nil
    case .byte(let byte): byte
    }
  }
}
