import UpsurgeSQLite
import UpsurgeStorage

extension LoadOptions {
  /// Looks at the SQL over the fields of records before there are any: whether it is one expression, with functions that SQLite has.
  /// - Parameter fields: the names of the fields; nil where nobody knows, and each name may be one.
  /// - Throws: `usage`.
  package func checkRecordSQL(fields: [String]?) throws(UpsurgeError) {
    guard shapesRecords else { return }
    let texts = table.computedColumns.map(\.sql) + [input.filter].compactMap { $0 }
    do throws(UpsurgeError) {
      _ = try RecordSQL(
        table.computedColumns.map { RecordSQL.Column(name: $0.name, sql: $0.sql) }, where: input.filter,
        fields: fields.map(recordFields)
          ?? RecordFields(RecordSQL.possibleFields(texts, beside: []), isText: false),
        byteLimit: transaction.recordByteLimit)
    } catch {
      var error = error
      // The names are those of the SQL itself, and no help.
      if fields == nil, error.hint?.contains("the fields are: ") == true {
        error.remedy = "give one expression over the record's fields, without ; or parameters"
      }
      throw error
    }
  }

  /// Fields of CSV as SQL sees them.
  private func recordFields(_ header: [String]) -> RecordFields {
    var record = RecordFields(header, isText: true)
    record.renames = table.renames
    // Names that are not there are told by another check.
    if let names = try? FieldSelection(options: self).columnNames(of: header, file: "") {
      record.flags = ShapedSource.flags(ShapedSource.formatNames(names, header), in: input.values)
    }
    return record
  }

  /// Looks at the syntax of the SQL over rows of the table. Names are not looked up.
  /// - Parameter scope: what a mirror says of its rows.
  /// - Throws: `usage`.
  package func checkRowSQL(scope: String?) throws(UpsurgeError) {
    var texts: [(said: Wording, sql: String)] = []
    if let scope { texts.append(("\(.scope)", scope)) }
    if case .columns(_, let predicate?) = rules.target, !predicate.isEmpty {
      texts.append(("\(.keyWhere)", predicate))
    }
    if let condition = rules.merge.condition { texts.append(("\(.updateIf)", condition)) }
    for (column, rule) in rules.merge.columns.sorted(by: { $0.key < $1.key }) {
      if case .expression(let sql) = rule { texts.append(("\(.set, column.escapedForTerminal)", sql)) }
    }
    if texts.isEmpty { return }
    let connection = try Connection(path: "no table", createIfMissing: true, isTemporary: true)
    for (said, sql) in texts {
      try SQLFragment(sql).checkIsExpression(option: said)
      do throws(UpsurgeError) {
        _ = try connection.prepare("SELECT 1 WHERE (\(sql)\n)")
      } catch {
        let message = connection.lastMessage
        guard Self.isSyntax(message) else { continue }
        throw UpsurgeError(
          .usage, "the SQL of \(saying: said) cannot be compiled: \(message.escapedForTerminal)",
          hint: "give one expression over excluded.COL and the row's columns, without ; or parameters")
      }
    }
  }

  /// SQLite reads a statement to its end before it looks for names.
  private static func isSyntax(_ message: String) -> Bool {
    message.contains("syntax error") || message.contains("incomplete input")
      || message.contains("unrecognized token")
  }

  /// Looks whether the fields and columns that options name are there.
  /// - Parameters:
  ///   - header: the fields of the source, by their names.
  ///   - file: what it is called.
  /// - Throws: `usage`.
  package func checkNames(against header: [String], file: String) throws(UpsurgeError) {
    if header.isEmpty { return }
    let selection = FieldSelection(options: self)
    let names = try selection.columnNames(of: header, file: file)
    try selection.checkFormats(
      input.values, against: shapesRecords ? ShapedSource.formatNames(names, header) : names, file: file)
    try selection.checkAdded(table, against: names, file: file)
  }
}
