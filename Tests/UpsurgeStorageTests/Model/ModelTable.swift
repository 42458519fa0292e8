/// A table with all that may find, refuse or change a row, known here without asking the engine.
struct ModelTable {
  struct Column {
    enum NotNull { case no, yes, replace }

    var name: String
    var type: String
    var collation = "BINARY"
    var notNull = NotNull.no
    var defaultSQL: String?
    var check: String?
    /// Whether it refers to `parent(id)`, which holds 0 to 3.
    var isForeign = false
    /// The expression of a generated column.
    var generated: String?
  }

  struct Key {
    /// One column, or an expression over it.
    struct Part {
      var column: String
      /// SQL in which `@.` stands for the row: `lower(@."c0")`; nil for the column itself.
      var expression: String?
      var collation: String
    }

    /// The index's name; nil for a constraint of the table.
    var name: String?
    var isPrimary = false
    var parts: [Part]
    /// The `WHERE` of a partial index, `@.` standing for the row.
    var predicate: String?

    var columns: [String] { parts.map(\.column) }
  }

  var columns: [Column] = []
  /// The PRIMARY KEY first, then UNIQUE constraints, then UNIQUE indexes.
  var keys: [Key] = []
  var isStrict = false
  var isWithoutRowid = false
  var isAutoincrement = false
  /// Plain indexes and triggers, and a child table that refers to the table.
  var extras: [String] = []

  var primaryKey: Key? { keys.first { $0.isPrimary } }
  /// The column that is the rowid.
  var rowidColumn: String? {
    guard !isWithoutRowid, let key = primaryKey, key.parts.count == 1 else { return nil }
    return columns.first { $0.name == key.parts[0].column && $0.type == "INTEGER" }?.name
  }
  /// The columns that are stored.
  var storedColumns: [Column] { columns.filter { $0.generated == nil } }

  func column(_ name: String) -> Column? { columns.first { $0.name == name } }

  /// SQL for one row: `@.` becomes the row's name.
  static func on(_ row: String, _ template: String) -> String {
    template.replacing("@.", with: row.isEmpty ? "" : row + ".")
  }
}

extension ModelTable.Key.Part {
  /// What is compared, of one row.
  func sql(on row: String) -> String {
    ModelTable.on(row, expression ?? "@.\(column)") + " COLLATE \(collation)"
  }
}

// MARK: - SQL

extension ModelTable {
  /// The statements that make the table, what it refers to and what hangs on it.
  var sql: String {
    var lines = [
      "CREATE TABLE parent(id INTEGER PRIMARY KEY);", "INSERT INTO parent VALUES(0),(1),(2),(3);",
      "CREATE TABLE log(op, k, v);",
    ]
    var parts = columns.map(columnSQL)
    for key in keys where key.name == nil {
      if key.isPrimary && isAutoincrement { continue }
      let names = key.parts.map { part in
        let isDeclared = part.collation == column(part.column)?.collation
        return part.column + (isDeclared ? "" : " COLLATE \(part.collation)")
      }
      parts.append((key.isPrimary ? "PRIMARY KEY" : "UNIQUE") + " (\(names.joined(separator: ", ")))")
    }
    let options = (isWithoutRowid ? ["WITHOUT ROWID"] : []) + (isStrict ? ["STRICT"] : [])
    lines.append(
      "CREATE TABLE t(\n  \(parts.joined(separator: ",\n  "))) \(options.joined(separator: ", "));")
    for key in keys {
      guard let name = key.name else { continue }
      let terms = key.parts.map { part in
        if let expression = part.expression { return Self.on("", expression) }
        return part.column
          + (part.collation == column(part.column)?.collation ? "" : " COLLATE \(part.collation)")
      }.joined(separator: ", ")
      let rest = key.predicate.map { " WHERE " + Self.on("", $0) } ?? ""
      lines.append("CREATE UNIQUE INDEX \(name) ON t(\(terms))\(rest);")
    }
    return (lines + extras).joined(separator: "\n")
  }

  private func columnSQL(_ column: Column) -> String {
    var text = "\(column.name) \(column.type)"
    if isAutoincrement && column.name == primaryKey?.columns.first { text += " PRIMARY KEY AUTOINCREMENT" }
    if column.collation != "BINARY" { text += " COLLATE \(column.collation)" }
    switch column.notNull {
    case .no: break
    case .yes: text += " NOT NULL"
    case .replace: text += " NOT NULL ON CONFLICT REPLACE"
    }
    if let value = column.defaultSQL { text += " DEFAULT \(value)" }
    if let check = column.check { text += " CHECK (\(check))" }
    if column.isForeign { text += " REFERENCES parent(id)" }
    if let expression = column.generated { text += " AS (\(expression))" }
    return text
  }

  /// The columns alone, without anything that refuses a row: what is stored in such a table is what the columns'
  /// affinities make of a value.
  /// - Parameter replacesNull: whether NULL becomes the default where the table says so.
  func shadowSQL(_ name: String, replacesNull: Bool) -> String {
    let list = storedColumns.map { column in
      // Outside of STRICT tables, ANY would be a number.
      var text = "\(column.name) \(column.type == "ANY" ? "" : column.type) COLLATE \(column.collation)"
      if replacesNull && column.notNull == .replace { text += " NOT NULL ON CONFLICT REPLACE" }
      if let value = column.defaultSQL { text += " DEFAULT \(value)" }
      return text
    }
    return "CREATE TEMP TABLE \(name)(\(list.joined(separator: ", ")))"
  }

  /// Everything that is to be equal in the end. The rowid is not, where it is hidden and there is a key.
  var dumps: [String] {
    var order = "rowid"
    if !keys.isEmpty && rowidColumn == nil {
      order = storedColumns.map { "\($0.name) COLLATE BINARY, typeof(\($0.name))" }.joined(separator: ", ")
    }
    var list = ["SELECT * FROM t ORDER BY \(order)", "SELECT * FROM log ORDER BY rowid"]
    if extras.contains(where: { $0.contains("child") }) { list.append("SELECT * FROM child ORDER BY 1, 2") }
    if isAutoincrement { list.append("SELECT seq FROM sqlite_sequence") }
    return list
  }
}
