import UpsurgeRecords
import UpsurgeSQLite

/// Asks a server of PostgreSQL whether it takes what SQLite's tables say, on temporary tables that are taken back.
struct ServerProbe {
  let table: TableShape
  let found: ContentScan.Result
  private let target: any MoveTarget

  init(_ table: TableShape, _ found: ContentScan.Result, _ target: any MoveTarget) {
    (self.table, self.found, self.target) = (table, found, target)
  }

  private var columns: [(name: String, kind: ColumnKind)] {
    zip(table.columns, found.choices).map { (name: $0.name, kind: $1.kind) }
  }

  private func type(of name: String) -> String {
    zip(table.columns, found.choices).first { SQLName.isSame($0.0.name, name) }?.1.type ?? "text"
  }

  /// The table with its plain columns.
  private var creation: String {
    let list = zip(table.columns, found.choices).filter { $0.0.generated == nil }.map {
      "\($0.name.quotedAsName) \($1.type)"
    }
    return "CREATE TEMP TABLE \(table.name.quotedAsName) (\(list.joined(separator: ", "))) ON COMMIT DROP"
  }

  private var name: String { "pg_temp.\(table.name.quotedAsName)" }

  /// The whole table, for what may name a column that is generated in SQLite.
  private var wholeCreation: String {
    let list = zip(table.columns, found.choices).map { "\($0.name.quotedAsName) \($1.type)" }
    return "CREATE TEMP TABLE \(table.name.quotedAsName) (\(list.joined(separator: ", "))) ON COMMIT DROP"
  }

  /// The expression of a generated column, where the server takes it.
  func generated(
    _ column: ColumnShape, _ type: String
  ) throws(UpsurgeError) -> Result<String, PortableExpression.Obstacle> {
    let translated = PortableExpression(from: .sqlite, columns: columns, isExact: true).result(
      of: column.generated ?? "")
    guard case .success(let expression) = translated else { return translated }
    if expression.isEmpty { return .failure(.init(reason: "its expression is not known")) }
    let addition =
      "ALTER TABLE \(name) ADD COLUMN \(column.name.quotedAsName) \(type) GENERATED ALWAYS AS (\(expression)) STORED"
    if let refusal = try target.refusal(of: [creation, addition]) { return .failure(.init(reason: refusal)) }
    return translated
  }

  /// The CHECKs that the server takes.
  func checks(_ leftOut: inout [LeftOut]) throws(UpsurgeError) -> [String] {
    try PortableExpression(from: .sqlite, columns: columns, isExact: true).checks(
      of: table, for: target, &leftOut,
      trial: { [wholeCreation, "ALTER TABLE \(name) ADD CHECK (\($0))"] })
  }

  /// A DEFAULT in the words of the server; nil for what is no literal that the column takes.
  func defaultValue(
    _ text: String, of column: ColumnShape, _ choice: ServerTypeSearch.Choice
  ) throws(UpsurgeError) -> String? {
    guard let carried = Self.literal(text, choice) else { return nil }
    let setting = "ALTER TABLE \(name) ALTER COLUMN \(column.name.quotedAsName) SET DEFAULT \(carried)"
    return try target.refusal(of: [wholeCreation, setting, "INSERT INTO \(name) DEFAULT VALUES"]) == nil
      ? carried : nil
  }

  private static func literal(_ text: String, _ choice: ServerTypeSearch.Choice) -> String? {
    let tokens = SQLScanner.tokens(of: text)
    if tokens.count == 1, tokens[0].isWord("CURRENT_TIMESTAMP") {
      if choice.type == "text" { return "to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')" }
      return choice.type.hasPrefix("timestamp") ? "date_trunc('second', now() AT TIME ZONE 'UTC')" : nil
    }
    if choice.kind == .truth, tokens.count == 1, ["0", "1"].contains(tokens[0].text) {
      return tokens[0].text == "1" ? "true" : "false"
    }
    let constants = ["NULL", "TRUE", "FALSE"]
    let isLiteral = tokens.allSatisfy { token in
      token.kind != .word || token.text.first?.isNumber == true || constants.contains { token.isWord($0) }
    }
    return isLiteral
      ? try? PortableExpression(from: .sqlite, columns: [], isExact: true).result(of: text).get() : nil
  }

  // MARK: - Indexes and foreign keys

  /// What follows the table in CREATE INDEX, where the server takes it.
  func indexClause(_ index: IndexShape) throws(UpsurgeError) -> Result<String, PortableExpression.Obstacle> {
    let translation = PortableExpression(from: .sqlite, columns: columns, isExact: index.isUnique)
    let clause = index.clause(in: table, translation)
    guard case .success(let text) = clause else { return clause }
    if let refusal = try target.refusal(of: [wholeCreation, "CREATE INDEX ON \(name) \(text)"]) {
      return .failure(.init(reason: refusal))
    }
    return clause
  }

  /// Why a foreign key cannot be made; nil where it can.
  func obstacle(to key: ForeignKeyShape, _ parent: ServerProbe) throws(UpsurgeError) -> String? {
    guard !key.parentColumns.isEmpty, key.columns.count == key.parentColumns.count,
      parent.table.isUnique(key.parentColumns)
    else {
      return "no UNIQUE key of \(parent.table.name) has these columns"
    }
    var statements = [wholeCreation]
    if parent.table.name != table.name { statements.append(parent.wholeCreation) }
    statements.append("ALTER TABLE \(parent.name) ADD UNIQUE (\(key.parentColumns.quotedAsNames))")
    statements.append("ALTER TABLE \(name) ADD \(key.clause(parent: parent.name))")
    return try target.refusal(of: statements)
  }
}
