/// How values are written, as a member of the context:
///
///     "values":{"dates":{"day":"%d/%m/%Y"},"decimal":"comma","thousands":".","numbers":{"lat":{"decimal":"point"}},"bools":{"flag":[["A"],["I"]],"paid":[]},
///               "trim":"blanks","nulls":{"day":["n/a"]}}
extension RejectContext {
  static func write(_ values: ValueFormats, to out: inout JSONText) {
    out.key("values")
    out.beginObject()
    if !values.dates.isEmpty {
      out.key("dates")
      out.beginObject()
      for (column, format) in values.dates.sorted(by: { $0.key < $1.key }) { out.member(column, format) }
      out.endObject()
    }
    if values.decimal != .point { out.member("decimal", values.decimal.rawValue) }
    if let thousands = values.thousands { out.member("thousands", thousands) }
    if !values.numberForms.isEmpty {
      out.key("numbers")
      out.beginObject()
      for (column, form) in values.numberForms.sorted(by: { $0.key < $1.key }) {
        out.key(column)
        out.beginObject()
        out.member("decimal", form.decimal.rawValue)
        if let thousands = form.thousands { out.member("thousands", thousands) }
        out.endObject()
      }
      out.endObject()
    }
    if !values.truths.isEmpty {
      out.key("bools")
      out.beginObject()
      for (column, truths) in values.truths.sorted(by: { $0.key < $1.key }) {
        out.key(column)
        out.beginArray()
        if case .words(let yes, let no) = truths {
          out.strings(yes)
          out.strings(no)
        }
        out.endArray()
      }
      out.endObject()
    }
    if values.trim != .none { out.member("trim", values.trim.rawValue) }
    if !values.nulls.isEmpty {
      out.key("nulls")
      out.beginObject()
      for (column, texts) in values.nulls.sorted(by: { $0.key < $1.key }) {
        out.key(column)
        out.strings(texts)
      }
      out.endObject()
    }
    out.endObject()
  }

  /// - Throws: `badInput` for formats that cannot be.
  static func values(_ json: JSONValue) throws(UpsurgeError) -> ValueFormats {
    var values = ValueFormats()
    for member in try members(json, "dates") {
      guard let format = member.value.text else { throw fault("values") }
      values.dates[member.name] = format
    }
    values.decimal = try word(json, "decimal") ?? .point
    values.thousands = json["thousands"]?.text
    for member in try members(json, "numbers") {
      values.numberForms[member.name] = ValueFormats.Numbers(
        decimal: try word(member.value, "decimal") ?? .point, thousands: member.value["thousands"]?.text)
    }
    for member in try members(json, "bools") {
      guard case .array(let lists) = member.value else { throw fault("values") }
      if lists.isEmpty {
        values.truths[member.name] = .usual
      } else {
        guard lists.count == 2, let yes = lists[0].texts, let no = lists[1].texts else {
          throw fault("values")
        }
        values.truths[member.name] = .words(yes: yes, no: no)
      }
    }
    values.trim = try word(json, "trim") ?? .none
    for member in try members(json, "nulls") {
      guard let texts = member.value.texts else { throw fault("values") }
      values.nulls[member.name] = texts
    }
    do throws(UpsurgeError) { try values.validate() } catch { throw fault("values") }
    return values
  }

  static func members(_ json: JSONValue, _ key: String) throws(UpsurgeError) -> [JSONValue.Member] {
    guard let value = json[key] else { return [] }
    guard case .object(let members) = value else { throw fault(key == "add" ? key : "values") }
    return members
  }
}
