extension ServerDescription {
  /// The description for programs: one JSON object and a line end. What `DatabaseDescription` has, too, has the same name.
  package var json: [UInt8] {
    var text = JSONText()
    text.beginObject()
    text.key("database")
    text.string(name)
    text.key("server")
    text.string(server)
    text.key("bytes")
    text.number(byteCount)
    text.key("encoding")
    text.string(encoding)
    text.list("tables", tables.filter { !$0.isView }) { text, table in table.write(to: &text) }
    text.list("views", tables.filter(\.isView)) { text, view in view.write(to: &text) }
    text.endObject()
    text.newline()
    return text.bytes
  }
}

extension ServerDescription.Table {
  package var isView: Bool { kind.hasSuffix("view") }

  fileprivate func write(to text: inout JSONText) {
    text.beginObject()
    text.key("schema")
    text.string(schema)
    text.key("name")
    text.string(name)
    text.key("kind")
    text.string(kind)
    text.key("rows")
    if let rowEstimate { text.number(rowEstimate) } else { text.null() }
    text.flag("rows_exact", false)
    text.flag("unlogged", isUnlogged)
    text.list("columns", columns) { text, column in column.write(to: &text) }
    text.list("keys", keys) { text, key in key.write(to: &text) }
    text.list("indexes", indexes) { text, index in index.write(to: &text) }
    text.list("foreign_keys", foreignKeys) { text, key in key.write(to: &text) }
    text.names("referenced_by", referencingTables)
    text.list("checks", checks) { text, check in
      text.beginObject()
      text.key("name")
      text.string(check.name)
      text.key("expression")
      text.string(check.expression)
      text.endObject()
    }
    text.list("triggers", triggers) { text, trigger in
      text.beginObject()
      text.key("name")
      text.string(trigger.name)
      text.key("moment")
      text.string(trigger.moment)
      text.flag("enabled", trigger.isEnabled)
      text.endObject()
    }
    text.names("rules", rules)
    text.key("row_security")
    text.string(rowSecurity.rawValue)
    text.list("policies", policies) { text, policy in policy.write(to: &text) }
    text.endObject()
  }
}

extension ServerDescription.Column {
  fileprivate func write(to text: inout JSONText) {
    text.beginObject()
    text.key("name")
    text.string(name)
    text.key("type")
    text.string(type)
    text.flag("not_null", isNotNull)
    text.optional("default", defaultExpression)
    text.optional("collation", collation)
    text.flag("generated", generation?.hasPrefix("ALWAYS AS (") ?? false)
    text.optional("generation", generation)
    text.endObject()
  }
}

extension ServerDescription.Policy {
  fileprivate func write(to text: inout JSONText) {
    text.beginObject()
    text.key("name")
    text.string(name)
    text.key("command")
    text.string(command)
    text.flag("permissive", isPermissive)
    text.names("roles", roles)
    text.optional("using", using)
    text.optional("check", check)
    text.endObject()
  }
}
