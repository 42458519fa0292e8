import Upsurge
import UpsurgeRecords

/// How a column of a server's table says that its row is gone.
struct RowMark: Sendable, Equatable {
  /// Quoted.
  let name: String
  /// SQL for a row that is gone, of the column's type.
  let gone: String
  /// SQL for a row that is there, of the column's type.
  let there: String
  /// SQL that is true of a row that is there.
  let isThere: String

  /// What a type has for rows that are gone and there.
  private struct Kind {
    var gone: String
    /// What is there beside NULL, where a column takes no NULL; nil where there is nothing.
    var absence: String?
    /// What else than NULL is there.
    var others: [String] = []
  }

  /// - Throws: `usage` where the table lacks the column, has it in its key, or its type cannot say it.
  init(_ given: String, in table: PostgresTable, key: [String]) throws(UpsurgeError) {
    let shown = table.name.escapedForTerminal
    let hint: Wording = "ALTER TABLE adds one such as deleted_at TEXT"
    guard let column = table.columnLike(given), column.generation == nil else {
      throw UpsurgeError(
        .usage, "\(saying: SoftMark.term) table \(shown) has no column \(given.escapedForTerminal)", hint: hint)
    }
    if key.contains(column.name) || table.primaryKey?.columns?.contains(column.name) == true {
      throw UpsurgeError(
        .usage,
        "\(saying: SoftMark.term) the column \(column.name.escapedForTerminal) is part of the primary key of table \(shown)",
        hint: hint)
    }
    guard let kind = Self.kind(of: column), !column.isNotNull || kind.absence != nil else {
      throw UpsurgeError(
        .usage,
        "\(saying: SoftMark.term) the column \(column.name.escapedForTerminal) is \(column.typeName)\(column.isNotNull ? " NOT NULL" : ""), "
          + "which cannot say of a row that it is there", hint: hint)
    }
    let name = column.name.quotedForPostgres
    self.name = name
    gone = "CAST(\(kind.gone) AS \(column.typeName))"
    let value = column.isNotNull ? column.defaultExpression ?? kind.absence ?? "NULL" : "NULL"
    there = "CAST(\(value) AS \(column.typeName))"
    let others = kind.others.isEmpty ? "" : " OR \(name) IN (\(kind.others.joined(separator: ", ")))"
    isThere = "(\(name) IS NULL\(others))"
  }

  private static func kind(of column: PostgresColumn) -> Kind? {
    switch BinaryColumn(column).form {
    case .text, .bpchar: Kind(gone: AcceptanceNotes.now, absence: "''", others: ["''", "'0'"])
    case .int2, .int4, .int8, .float4, .float8, .numeric: Kind(gone: "1", absence: "0", others: ["0"])
    case .bool: Kind(gone: "true", absence: "false", others: ["false"])
    case .timestamptz: Kind(gone: "now()")
    case .timestamp, .date: Kind(gone: "now() AT TIME ZONE 'UTC'")
    case .bytea, .uuid, .time, .json, .jsonb, .castText: nil
    }
  }

  /// SQL for what the column has in a row that a record is about: what it has, unless that says that the row is gone.
  var kept: String { "CASE WHEN \(isThere) THEN \(name) ELSE \(there) END" }
}
