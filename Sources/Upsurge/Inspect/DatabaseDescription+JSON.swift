extension DatabaseDescription {
  /// The description for programs: one JSON object and a line end.
  public var json: [UInt8] {
    var text = JSONText()
    text.beginObject()
    text.key("database")
    text.string(path)
    text.key("bytes")
    text.number(byteCount)
    text.key("page_size")
    text.number(UInt64(pageSize))
    text.key("journal_mode")
    text.string(journalMode)
    text.list("tables", tables) { text, table in table.write(to: &text) }
    text.list("views", views) { text, view in view.write(to: &text) }
    text.key("shadow_tables")
    text.number(UInt64(shadowTableCount))
    text.names("damages", damages)
    text.endObject()
    text.newline()
    return text.bytes
  }
}

extension DatabaseDescription.Table {
  fileprivate func write(to text: inout JSONText) {
    text.beginObject()
    text.key("name")
    text.string(name)
    text.flag("virtual", isVirtual)
    text.flag("strict", isStrict)
    text.flag("without_rowid", isWithoutRowid)
    text.key("rows")
    switch rowCount {
    case .exact(let count), .atMost(let count): text.number(count)
    case .unknown: text.null()
    }
    text.flag("rows_exact", rowCount.isExact)
    text.list("columns", columns) { text, column in column.write(to: &text) }
    text.list("keys", keys) { text, key in key.write(to: &text) }
    text.list("indexes", indexes) { text, index in index.write(to: &text) }
    text.list("foreign_keys", foreignKeys) { text, key in key.write(to: &text) }
    text.names("referenced_by", referencingTables)
    text.list("triggers", triggers) { text, trigger in trigger.write(to: &text) }
    text.key("full_text_content")
    switch fullTextContent {
    case nil: text.null()
    case .own: text.string("own")
    case .contentless: text.string("none")
    case .table(let name): text.string("table:" + name)
    }
    text.names("application_functions", applicationFunctions)
    text.optional("problem", problem)
    text.endObject()
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
    text.beginObject()
    text.key("name")
    text.string(name)
    text.key("type")
    text.string(declaredType)
    text.flag("not_null", isNotNull)
    text.optional("default", defaultExpression)
    text.key("collation")
    text.string(collation)
    text.flag("generated", isGenerated)
    text.flag("hidden", isHidden)
    text.endObject()
  }
}

extension DatabaseDescription.Key {
  func write(to text: inout JSONText) {
    text.beginObject()
    text.key("kind")
    text.string(kind)
    text.optional("index", indexName)
    text.names("parts", parts)
    text.optional("where", predicate)
    text.key("option")
    text.string(option)
    text.endObject()
  }
}

extension DatabaseDescription.Index {
  func write(to text: inout JSONText) {
    text.beginObject()
    text.key("name")
    text.string(name)
    text.names("parts", parts)
    text.flag("partial", isPartial)
    text.key("sql")
    text.string(sql)
    text.endObject()
  }
}

extension DatabaseDescription.ForeignKey {
  func write(to text: inout JSONText) {
    text.beginObject()
    text.names("columns", columns)
    text.key("parent")
    text.string(parentTable)
    text.names("parent_columns", parentColumns)
    text.endObject()
  }
}

extension DatabaseDescription.Trigger {
  fileprivate func write(to text: inout JSONText) {
    text.beginObject()
    text.key("name")
    text.string(name)
    text.names("application_functions", applicationFunctions)
    text.endObject()
  }
}

extension DatabaseDescription.View {
  fileprivate func write(to text: inout JSONText) {
    text.beginObject()
    text.key("name")
    text.string(name)
    text.names("columns", columns)
    text.list("triggers", triggers) { text, trigger in trigger.write(to: &text) }
    text.names("application_functions", applicationFunctions)
    text.optional("problem", problem)
    text.endObject()
  }
}

extension JSONText {
  mutating func list<Element>(
    _ name: String, _ elements: [Element], _ write: (inout JSONText, Element) -> Void
  ) {
    key(name)
    beginArray()
    for element in elements { write(&self, element) }
    endArray()
  }

  mutating func names(_ name: String, _ names: [String]) {
    list(name, names) { text, name in text.string(name) }
  }

  mutating func flag(_ name: String, _ value: Bool) {
    key(name)
    bool(value)
  }

  mutating func optional(_ name: String, _ value: String?) {
    key(name)
    if let value { string(value) } else { null() }
  }
}
