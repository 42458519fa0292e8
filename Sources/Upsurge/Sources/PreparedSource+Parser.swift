/// The parser of one source; an enum, so that the parsing loop is specialised for each.
package enum SourceParser {
  case csv(CSVParser)
  case json(JSONParser)
}

extension PreparedSource {
  /// Makes the parser that turns this source into records of the run's columns.
  ///
  /// - Parameters:
  ///   - columns: the run's columns; grows when a CSV header has new ones.
  ///   - added: the columns that the table does not have yet.
  /// - Throws: `guardRefused` when the table lacks a column and may not get it; `usage` for unknown names.
  func makeParser(
    columns: inout ColumnRegistry, table: TableFacts, options: LoadOptions, added: inout [ColumnTarget]
  ) throws(UpsurgeError) -> SourceParser {
    switch shape {
    case .json(let format):
      return .json(
        JSONParser(
          dialect: JSONDialect(
            format: format, jsonPath: options.jsonPath, flattenSeparator: options.flattenSeparator,
            duplicateKeys: options.duplicateKeys),
          file: opened.name, columns: columns.targets,
          policy: JSONKeyPolicy(
            unknown: table.unknownKeys,
            wanted: options.columns.isEmpty ? nil : options.columns, renames: options.renames)))
    case .csv(let sniffed):
      let names = try FieldSelection(options: options).columnNames(
        of: sniffed.headerNames, file: opened.name)
      try addMissing(names, columns: &columns, table: table, options: options, added: &added)
      let slots = names.map { name in name.flatMap { columns.slot(named: $0) } }
      return .csv(
        CSVParser(
          dialect: sniffed.dialect, file: opened.name, columns: columns.targets, slotOfField: slots,
          extraSlot: sniffed.dialect.ragged == .extra ? columns.slot(named: Self.extraColumn) : nil))
    }
  }

  /// Where `--ragged extra` keeps surplus fields.
  static let extraColumn = "extra"

  private func addMissing(
    _ names: [String?], columns: inout ColumnRegistry, table: TableFacts, options: LoadOptions,
    added: inout [ColumnTarget]
  ) throws(UpsurgeError) {
    var missing = names.compactMap { $0 }.filter { columns.slot(named: $0) == nil }
    if case .csv(let sniffed) = shape, sniffed.dialect.ragged == .extra,
      columns.slot(named: Self.extraColumn) == nil
    {
      missing.append(Self.extraColumn)
    }
    var unknown: [String] = []
    var types: [String: ColumnType] = [:]
    for name in missing {
      if let column = table.column(named: name) {
        columns.add(column)
        continue
      }
      guard table.isNew || table.addsColumns else {
        unknown.append(name)
        continue
      }
      if types.isEmpty { types = try Dictionary(
        inferColumns(options: options).map { ($0.name.lowercased(), $0.type) }) { first, _ in first } }
      let type = types[name.lowercased()] ?? .text
      let target = ColumnTarget(
        name: name, affinity: type.affinity, spellingPolicy: table.spellingPolicy)
      columns.add(target)
      added.append(target)
    }
    if !unknown.isEmpty {
      throw UpsurgeError(
        .guardRefused,
        "\(opened.name) has \(unknown.count == 1 ? "a field" : "fields") for which the table \(table.name) has no "
          + "column: \(unknown.joined(separator: ", "))",
        position: Position(file: opened.name, line: 1),
        hint: "--alter adds columns; --columns A,B loads only some; --rename OLD=NEW gives another name")
    }
  }
}
