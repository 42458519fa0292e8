import UpsurgeInput
import UpsurgeRecords

/// The columns of a table or query, and the COPY that gives its rows.
struct CopyPlan {
  struct Column {
    var head: RowHead.Column
    var binary: BinaryColumn
  }

  /// What was asked for, where it is no table.
  let query: String?
  let columns: [Column]
  /// The statement.
  let copy: String

  /// What stands after FROM for a query; a comment at its end comments nothing else out.
  static func relation(ofQuery query: String) -> String {
    var query = query[...]
    while let last = query.last, last.isWhitespace || last == ";" { query = query.dropLast() }
    return "(\(query)\n)"
  }

  /// - Parameter relation: what stands after FROM.
  init(_ relation: String, query: String?, on connection: PostgresConnection) throws(PostgresFailure) {
    // One statement only, whatever the query holds.
    let looked = try connection.run("SELECT * FROM \(relation) AS upsurge_row LIMIT 0", [])
    let types = (0..<looked.columnCount).map { looked.columnType($0) }
    let modifiers = (0..<looked.columnCount).map { looked.columnModifier($0) }
    let words = try connection.run(
      """
      SELECT CASE WHEN t.typnamespace = 'pg_catalog'::regnamespace AND t.typtype <> 'p' THEN format_type(t.oid, given.modifier) END
      FROM unnest($1::oid[], $2::int[]) WITH ORDINALITY AS given(type, modifier, place)
        LEFT JOIN pg_type t ON t.oid = given.type ORDER BY given.place
      """, [Self.array(types), Self.array(modifiers)])
    let names = words.rows.map { $0.text(0) }
    self.query = query
    columns = types.indices.map { index in
      let binary = BinaryColumn(type: types[index], modifier: modifiers[index])
      let head = RowHead.Column(
        name: looked.columnName(index), declaredType: Self.declaredType(of: binary.form),
        sourceType: names[index])
      return Column(head: head, binary: binary)
    }
    let list = columns.map { column in
      "upsurge_row.\(column.head.name.quotedForPostgres)\(column.binary.form == .castText ? "::text" : "")"
    }
    copy =
      "COPY (SELECT \(list.joined(separator: ", ")) FROM \(relation) AS upsurge_row) TO STDOUT (FORMAT binary)"
  }

  private static func array(_ numbers: [some BinaryInteger]) -> PostgresParameter {
    .text("{\(numbers.map { "\($0)" }.joined(separator: ","))}")
  }

  /// - Throws: `usage` where two columns have one name, as SQLite compares them; `badInput` where there is not one.
  func check() throws(UpsurgeError) {
    if columns.isEmpty { throw UpsurgeError(.badInput, "the rows have no columns") }
    var seen: Set<String> = []
    for column in columns where !seen.insert(Self.folded(column.head.name)).inserted {
      throw UpsurgeError(
        .usage,
        "the \(query == nil ? "table" : "query") gives two columns the name \(column.head.name.escapedForTerminal)",
        snippet: query?.escapedForTerminal, hint: "give one of them another name: SELECT a AS b")
    }
  }

  /// As names are compared: without the case of ASCII letters.
  private static func folded(_ name: String) -> String {
    String(decoding: name.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }

  /// A type of SQLite that changes no value. A numeric would become a REAL in a column of numbers, and a UUID or JSON of digits a
  /// number, so they are text.
  private static func declaredType(of form: BinaryColumn.Form) -> String {
    switch form {
    case .int2, .int4, .int8: "INTEGER"
    case .float4, .float8: "REAL"
    case .bool: "BOOLEAN"
    case .bytea: "BLOB"
    case .date: "DATE"
    case .time: "TIME"
    case .timestamp: "TIMESTAMP"
    case .timestamptz: "TIMESTAMPTZ"
    case .numeric, .text, .bpchar, .uuid, .json, .jsonb, .castText: "TEXT"
    }
  }
}
