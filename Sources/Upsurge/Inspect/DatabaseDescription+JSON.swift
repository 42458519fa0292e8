extension DatabaseDescription {
  /// The description for programs: one JSON object and a line end.
  public var json: [UInt8] {
    JSONText.line { text in
      text.member("database", path)
      text.member("bytes", byteCount)
      text.member("page_size", UInt64(pageSize))
      text.member("journal_mode", journalMode)
      text.member("tables", tables) { $1.write(to: &$0) }
      text.member("views", views) { $1.write(to: &$0) }
      text.member("shadow_tables", UInt64(shadowTableCount))
      text.member("damages", damages)
    }
  }
}

extension DatabaseDescription.Table {
  fileprivate func write(to text: inout JSONText) {
    text.member("name", name)
    text.member("virtual", isVirtual)
    text.member("strict", isStrict)
    text.member("without_rowid", isWithoutRowid)
    text.key("rows")
    switch rowCount {
    case .exact(let count), .atMost(let count): text.number(count)
    case .unknown: text.null()
    }
    text.member("rows_exact", rowCount.isExact)
    text.member("columns", columns) { $1.write(to: &$0) }
    text.member("keys", keys) { $1.write(to: &$0) }
    text.member("indexes", indexes) { $1.write(to: &$0) }
    text.member("foreign_keys", foreignKeys) { $1.write(to: &$0) }
    text.member("referenced_by", referencingTables)
    text.member("triggers", triggers) { $1.write(to: &$0) }
    text.key("full_text_content")
    switch fullTextContent {
    case nil: text.null()
    case .own: text.string("own")
    case .contentless: text.string("none")
    case .table(let name): text.string("table:" + name)
    }
    text.member("application_functions", applicationFunctions)
    text.member("problem", orNull: problem)
  }
}

extension DatabaseDescription.RowCount {
  fileprivate var isExact: Bool {
    if case .exact = self { return true }
    return false
  }
}

extension DatabaseDescription.Column {
  fileprivate func write(to text: inout JSONText) {
    text.member("name", name)
    text.member("type", declaredType)
    text.member("not_null", isNotNull)
    text.member("default", orNull: defaultExpression)
    text.member("collation", collation)
    text.member("generated", isGenerated)
    text.member("hidden", isHidden)
  }
}

extension DatabaseDescription.Key {
  func write(to text: inout JSONText) {
    text.member("kind", kind)
    text.member("index", orNull: indexName)
    text.member("parts", parts)
    text.member("where", orNull: predicate)
    text.member("option", option)
  }
}

extension DatabaseDescription.Index {
  func write(to text: inout JSONText) {
    text.member("name", name)
    text.member("parts", parts)
    text.member("partial", isPartial)
    text.member("sql", sql)
  }
}

extension DatabaseDescription.ForeignKey {
  func write(to text: inout JSONText) {
    text.member("columns", columns)
    text.member("parent", parentTable)
    text.member("parent_columns", parentColumns)
  }
}

extension DatabaseDescription.Trigger {
  fileprivate func write(to text: inout JSONText) {
    text.member("name", name)
    text.member("application_functions", applicationFunctions)
  }
}

extension DatabaseDescription.View {
  fileprivate func write(to text: inout JSONText) {
    text.member("name", name)
    text.member("columns", columns)
    text.member("triggers", triggers) { $1.write(to: &$0) }
    text.member("application_functions", applicationFunctions)
    text.member("problem", orNull: problem)
  }
}
