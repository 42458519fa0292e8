/// A rejected record as a line of NDJSON: `file record line byte column code reason raw`.
///
/// Where the run reads the same file more than once, `source` says which of its sources it was, from 1.
///
/// Raw bytes that are not UTF-8 are shown with U+FFFD and stand whole in `raw_base64`; what is longer than 64 KiB is
/// cut, and `raw_cut` says so.
enum RejectLine {
  /// Appends the line with its end.
  static func write(_ reject: borrowing Reject, to text: inout JSONText) {
    text.beginObject()
    text.key("file")
    text.string(reject.position.file)
    if let index = reject.sourceIndex {
      text.key("source")
      text.number(UInt64(index) + 1)
    }
    for (name, value) in [
      ("record", reject.position.record), ("line", reject.position.line),
      ("byte", reject.position.byte),
    ] {
      text.key(name)
      if let value { text.number(value) } else { text.null() }
    }
    text.key("column")
    if let column = reject.column { text.string(column) } else { text.null() }
    text.key("code")
    text.string(reject.code.rawValue)
    text.key("reason")
    text.string(reject.reason)
    text.key("raw")
    text.string(repairing: reject.raw)
    if String(validating: reject.raw, as: UTF8.self) == nil {
      text.key("raw_base64")
      text.string(Base64.encode(reject.raw))
    }
    if reject.isRawCut {
      text.key("raw_cut")
      text.bool(true)
    }
    text.endObject()
    text.newline()
  }

  /// The reject that a line says.
  /// - Throws: `badInput` for what is no such line.
  static func read(_ json: JSONValue) throws(UpsurgeError) -> Reject {
    guard case .object = json else { throw fault("it is no JSON object") }
    guard let text = json["raw"]?.text else { throw fault("it has no text \"raw\"") }
    var raw = Array(text.utf8)
    if let encoded = json["raw_base64"], encoded != .null {
      guard let bytes = encoded.text.flatMap(Base64.decode) else {
        throw fault("its \"raw_base64\" is not base64")
      }
      raw = bytes
    }
    func number(_ key: String) -> UInt64? {
      if case .integer(let number)? = json[key] { return UInt64(exactly: number) }
      return nil
    }
    var reject = Reject(
      Reject.Code(rawValue: json["code"]?.text ?? ""),
      at: Position(
        file: json["file"]?.text ?? "?", record: number("record"), line: number("line"),
        byte: number("byte")),
      column: json["column"]?.text, reason: json["reason"]?.text ?? "",
      raw: UnsafeBufferPointer(start: nil, count: 0))
    reject.raw = raw
    reject.sourceIndex = number("source").flatMap { $0 > 0 ? Int(exactly: $0 - 1) : nil }
    reject.isRawCut = json["raw_cut"] == .bool(true)
    return reject
  }

  private static func fault(_ what: String) -> UpsurgeError {
    UpsurgeError(.badInput, "the line is no rejected record: \(what)")
  }
}
