/// Where the fields of a line stand that has no marks between them, as members of the dialect:
///
///     "widths":[[0,6],[6,20],[26,null]],"ruler":"-"
extension RejectContext {
  static func write(_ widths: FixedWidths, to out: inout JSONText) {
    out.key("widths")
    out.beginArray()
    for field in widths.fields {
      out.beginArray()
      out.number(Int64(field.start))
      if let width = field.width { out.number(Int64(width)) } else { out.null() }
      out.endArray()
    }
    out.endArray()
    if let ruler = widths.ruler {
      out.key("ruler")
      out.mark([ruler])
    }
  }

  static func widths(_ json: JSONValue) throws(UpsurgeError) -> FixedWidths? {
    guard let given = json["widths"] else { return nil }
    guard case .array(let values) = given else { throw fault("widths") }
    var widths = FixedWidths(fields: [], ruler: try byte(json, "ruler"))
    for value in values {
      guard case .array(let pair) = value, pair.count == 2, case .integer(let start) = pair[0],
        (0...Int64(Int32.max)).contains(start)
      else { throw fault("widths") }
      switch pair[1] {
      case .null: widths.fields.append(FixedWidths.Field(start: Int(start), width: nil))
      case .integer(let width):
        widths.fields.append(FixedWidths.Field(start: Int(start), width: Int(clamping: width)))
      default: throw fault("widths")
      }
    }
    return widths
  }
}
