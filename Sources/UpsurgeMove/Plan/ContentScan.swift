import UpsurgeRecords
import UpsurgeSQLite

/// Looks at all rows of a table of SQLite: which types its columns get, and which values would not go there.
struct ContentScan {
  private let source: any MoveSource
  private let table: TableShape
  private let numericHasInfinity: Bool

  init(_ table: TableShape, of source: any MoveSource, numericHasInfinity: Bool) {
    (self.table, self.source, self.numericHasInfinity) = (table, source, numericHasInfinity)
  }

  /// What was found.
  struct Result {
    var rowCount: UInt64
    /// One for each column.
    var choices: [ServerTypeSearch.Choice]
    /// What does not go there, in words, with what helps.
    var problems: [Problem] = []
  }

  struct Problem {
    var words: String
    /// `orders.note:text`; nil where no type helps.
    var type: String?
  }

  /// So many conditions are looked at in one scan.
  private static let conditionLimit = 300

  func result(_ rules: MoveRules) throws(UpsurgeError) -> Result {
    let searches = table.columns.map {
      ServerTypeSearch(
        $0, given: rules.type(of: $0.name, in: table.name), numericHasInfinity: numericHasInfinity)
    }
    let nulls = table.primaryKey.filter { table.column($0)?.isNotNull == false }.map {
      "\($0.quotedAsName) IS NULL"
    }
    let conditions = searches.flatMap(\.conditions) + nulls
    var counts: [Int64] = []
    var rowCount: Int64 = 0
    for start in stride(from: 0, through: conditions.count, by: Self.conditionLimit) {
      let part = conditions[start..<min(start + Self.conditionLimit, conditions.count)]
      let sums = part.map { ", count(CASE WHEN \($0) THEN 1 END)" }.joined()
      let row = try source.rows("SELECT count(*)\(sums) FROM main.\(table.name.quotedAsName)")[0]
      rowCount = row[0].flatMap { Int64($0) } ?? 0
      counts += row.dropFirst().map { $0.flatMap { Int64($0) } ?? 0 }
    }
    var result = Result(rowCount: UInt64(max(rowCount, 0)), choices: [])
    var at = 0
    for (column, search) in zip(table.columns, searches) {
      let own = Array(counts[at..<(at + search.conditions.count)])
      at += search.conditions.count
      let choice = search.choice(own)
      result.choices.append(choice)
      if let misfit = choice.misfit { result.problems.append(try problem(misfit, in: column)) }
    }
    for (condition, count) in zip(nulls, counts[at...]) where count > 0 {
      let words =
        "\(table.name) has \(Self.rows(count)) with NULL in its primary key, first \(try first(condition))"
      result.problems.append(Problem(words: words))
    }
    return result
  }

  private func problem(_ misfit: ServerTypeSearch.Misfit, in column: ColumnShape) throws(UpsurgeError)
    -> Problem
  {
    let declared = column.type.isEmpty ? "declares no type" : "is declared \(column.type)"
    let words =
      "\(table.name).\(column.name) \(declared) and holds \(Words.count(UInt64(misfit.count), misfit.noun)) \(misfit.words), "
      + "first \(try first(misfit.condition, column.name))"
    return Problem(words: words, type: "\(table.name).\(column.name):\(misfit.widerType)")
  }

  /// `in row 17 ('n/a')`.
  private func first(_ condition: String, _ column: String? = nil) throws(UpsurgeError) -> String {
    let value = column.map { ", substr(quote(\($0.quotedAsName)), 1, 40)" } ?? ""
    let key =
      table.primaryKey.isEmpty || table.order == "rowid"
      ? table.order ?? "NULL"
      : table.primaryKey.map { "quote(\($0.quotedAsName))" }.joined(separator: " || ', ' || ")
    let rows = try source.rows(
      "SELECT \(key)\(value) FROM main.\(table.name.quotedAsName) WHERE \(condition) LIMIT 1")
    guard let row = rows.first else { return "" }
    return "in row \(row[0] ?? "?")" + (row.count > 1 ? " (\(row[1] ?? ""))" : "")
  }

  private static func rows(_ count: Int64) -> String { Words.count(UInt64(count), "row") }
}

/// Rows of SQLite whose foreign key finds no parent: PostgreSQL would refuse the key after all rows.
struct ReferenceScan {
  let source: any MoveSource

  /// - Parameter key: with the columns of the parent.
  /// - Returns: nil where all find one.
  func problem(_ key: ForeignKeyShape, of table: TableShape) throws(UpsurgeError) -> ContentScan.Problem? {
    let given = key.columns.map { "child.\($0.quotedAsName) IS NOT NULL" }
    let same = zip(key.columns, key.parentColumns).map {
      "parent.\($1.quotedAsName) = child.\($0.quotedAsName)"
    }
    let order =
      table.order == "rowid"
      ? "child.rowid" : table.primaryKey.first.map { "child.\($0.quotedAsName)" } ?? "NULL"
    let row = try source.rows(
      """
      SELECT count(*), min(\(order)) FROM main.\(table.name.quotedAsName) AS child WHERE \(given.joined(separator: " AND "))
        AND NOT EXISTS (SELECT 1 FROM main.\(key.parent.quotedAsName) AS parent WHERE \(same.joined(separator: " AND ")))
      """)[0]
    guard let count = row[0].flatMap({ UInt64($0) }), count > 0 else { return nil }
    let columns = key.columns.joined(separator: ", ")
    return ContentScan.Problem(
      words:
        "\(Words.count(count, "row")) of \(table.name) without a parent in \(key.parent) for \(columns), first in row \(row[1] ?? "?")"
    )
  }
}
