extension ServerDescription {
  /// The description for programs: one JSON object and a line end. What `DatabaseDescription` has, too, has the same name.
  package var json: [UInt8] {
    JSONText.line { text in
      text.member("database", name)
      text.member("server", server)
      text.member("bytes", byteCount)
      text.member("encoding", encoding)
      text.member("tables", tables.filter { !$0.isView }) { $1.write(to: &$0) }
      text.member("views", tables.filter(\.isView)) { $1.write(to: &$0) }
    }
  }
}

extension ServerDescription.Table {
  package var isView: Bool { kind.hasSuffix("view") }

  fileprivate func write(to text: inout JSONText) {
    text.member("schema", schema)
    text.member("name", name)
    text.member("kind", kind)
    text.key("rows")
    if let rowEstimate { text.number(rowEstimate) } else { text.null() }
    text.member("rows_exact", false)
    text.member("unlogged", isUnlogged)
    text.member("columns", columns) { $1.write(to: &$0) }
    text.member("keys", keys) { $1.write(to: &$0) }
    text.member("indexes", indexes) { $1.write(to: &$0) }
    text.member("foreign_keys", foreignKeys) { $1.write(to: &$0) }
    text.member("referenced_by", referencingTables)
    text.member("checks", checks) { text, check in
      text.member("name", check.name)
      text.member("expression", check.expression)
    }
    text.member("triggers", triggers) { text, trigger in
      text.member("name", trigger.name)
      text.member("moment", trigger.moment)
      text.member("enabled", trigger.isEnabled)
    }
    text.member("rules", rules)
    text.member("row_security", rowSecurity.rawValue)
    text.member("policies", policies) { $1.write(to: &$0) }
  }
}

extension ServerDescription.Column {
  fileprivate func write(to text: inout JSONText) {
    text.member("name", name)
    text.member("type", type)
    text.member("not_null", isNotNull)
    text.member("default", orNull: defaultExpression)
    text.member("collation", orNull: collation)
    text.member("generated", generation?.hasPrefix("ALWAYS AS (") ?? false)
    text.member("generation", orNull: generation)
  }
}

extension ServerDescription.Policy {
  fileprivate func write(to text: inout JSONText) {
    text.member("name", name)
    text.member("command", command)
    text.member("permissive", isPermissive)
    text.member("roles", roles)
    text.member("using", orNull: using)
    text.member("check", orNull: check)
  }
}
