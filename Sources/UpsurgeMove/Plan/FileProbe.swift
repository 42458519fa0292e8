import UpsurgeRecords
import UpsurgeSQLite

/// Asks SQLite whether it takes what tables of PostgreSQL say, in a database that nobody sees.
struct FileProbe {
  let table: TableShape
  private let rules: MoveRules
  private let target: any MoveTarget

  init(_ table: TableShape, _ rules: MoveRules, _ target: any MoveTarget) {
    (self.table, self.rules, self.target) = (table, rules, target)
  }

  /// The type of a column, as a person has said it or as it follows from the server's.
  func type(of column: ColumnShape) -> FileType {
    var type = FileType(column.type)
    if let given = rules.type(of: column.name, in: table.name) { type.declared = given }
    return type
  }

  /// The only column of a primary key of whole numbers, which is the rowid in SQLite.
  var rowid: String? {
    guard table.primaryKey.count == 1, let column = table.column(table.primaryKey[0]),
      FileType(column.type).kind == .integer,
      rules.type(of: column.name, in: table.name) == nil
    else { return nil }
    return column.name
  }

  private var columns: [(name: String, kind: ColumnKind)] {
    table.columns.map { (name: $0.name, kind: type(of: $0).kind) }
  }

  private func creation(_ more: String? = nil, without column: String? = nil) -> String {
    let list = table.columns.filter { $0.name != column }.map {
      "\($0.name.quotedAsName) \(type(of: $0).declared)"
    }
    return
      "CREATE TABLE \(table.name.quotedAsName) (\((list + (more.map { [$0] } ?? [])).joined(separator: ", ")))"
  }

  func generated(_ column: ColumnShape) throws(UpsurgeError) -> Result<String, PortableExpression.Obstacle> {
    let translated = PortableExpression(from: .postgres, columns: columns, isExact: true).result(
      of: column.generated ?? "")
    guard case .success(let expression) = translated else { return translated }
    let definition =
      "\(column.name.quotedAsName) \(type(of: column).declared) GENERATED ALWAYS AS (\(expression)) STORED"
    if let refusal = try target.refusal(of: [creation(definition, without: column.name)]) {
      return .failure(.init(reason: refusal))
    }
    return translated
  }

  func checks(_ leftOut: inout [LeftOut]) throws(UpsurgeError) -> [String] {
    try PortableExpression(from: .postgres, columns: columns, isExact: true).checks(
      of: table, for: target, &leftOut,
      trial: { [creation("CHECK (\($0))")] })
  }

  /// A DEFAULT in the words of SQLite; nil for what is no literal.
  func defaultValue(_ text: String, _ type: FileType) throws(UpsurgeError) -> String? {
    let translated = PortableExpression(from: .postgres, columns: [], isExact: true).result(of: text)
    guard case .success(let literal) = translated else { return nil }
    let tokens = SQLScanner.tokens(of: literal)
    let constants = ["NULL", "TRUE", "FALSE"]
    let isLiteral = tokens.allSatisfy { token in
      token.kind == .literal || token.isMark("-") || token.isMark(".") || token.text.first?.isNumber == true
        || constants.contains { token.isWord($0) }
    }
    guard isLiteral, !tokens.isEmpty else { return nil }
    // A number would be spelled anew: 0.00 is 0.0.
    let isNumber = tokens.allSatisfy { $0.kind != .literal } && !constants.contains { tokens[0].isWord($0) }
    let carried = isNumber && type.kind == .spelled ? literal.quotedAsText : literal
    return try target.refusal(of: [creation("upsurge_probe TEXT DEFAULT \(carried)")]) == nil ? carried : nil
  }

  /// What follows the table in CREATE INDEX, where SQLite takes it.
  func indexClause(_ index: IndexShape) throws(UpsurgeError) -> Result<String, PortableExpression.Obstacle> {
    let clause = index.clause(
      in: table, PortableExpression(from: .postgres, columns: columns, isExact: index.isUnique))
    guard case .success(let text) = clause else { return clause }
    let making = "CREATE INDEX upsurge_probe ON \(table.name.quotedAsName) \(text)"
    if let refusal = try target.refusal(of: [creation(), making]) { return .failure(.init(reason: refusal)) }
    return clause
  }
}
