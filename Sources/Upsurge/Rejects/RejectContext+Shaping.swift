/// The SQL that makes rows of the fields, as members of the context:
///
///     "let":[["total","price*qty"]],"where":"qty <> ''","names":["price","qty"]
extension RejectContext {
  static func write(_ shaping: Shaping, to out: inout JSONText) {
    if !shaping.computed.isEmpty {
      out.key("let")
      out.beginArray()
      for column in shaping.computed { out.strings([column.name, column.sql]) }
      out.endArray()
    }
    if let filter = shaping.filter { out.member("where", filter) }
    if !shaping.fieldNames.isEmpty {
      out.key("names")
      out.strings(shaping.fieldNames)
    }
    if !shaping.numberFields.isEmpty {
      out.key("number_fields")
      out.strings(shaping.numberFields)
    }
  }

  /// - Throws: `badInput` for what is no such SQL.
  static func shaping(_ json: JSONValue) throws(UpsurgeError) -> Shaping? {
    var computed: [LoadOptions.ComputedColumn] = []
    if let given = json["let"] {
      guard case .array(let columns) = given else { throw fault("let") }
      for column in columns {
        guard let texts = column.texts, texts.count == 2 else { throw fault("let") }
        computed.append(LoadOptions.ComputedColumn(texts[0], texts[1]))
      }
    }
    let filter = json["where"]?.text
    if filter == nil && json["where"] != nil { throw fault("where") }
    if computed.isEmpty && filter == nil { return nil }
    return Shaping(
      computed: computed, filter: filter, fieldNames: try names(json, "names") ?? [],
      numberFields: try names(json, "number_fields") ?? [])
  }
}
