import UpsurgeRecords

/// The fields of a record behind its last column, kept as JSON: `x,"y ""z"""` -> `["x","y \"z\""]`.
enum SurplusFields {
  /// - Parameter raw: the surplus fields as they are written, without the line end.
  static func json(of raw: UnsafeBufferPointer<UInt8>, dialect: CSVDialect) -> [UInt8] {
    var text = JSONText()
    text.beginArray()
    var reader = FieldReader(bytes: raw, dialect: dialect)
    while true {
      let field = reader.nextField()
      text.string(String(decoding: reader.text(of: field), as: UTF8.self))
      if field.ending != .delimiter { break }
    }
    text.endArray()
    return text.bytes
  }
}
