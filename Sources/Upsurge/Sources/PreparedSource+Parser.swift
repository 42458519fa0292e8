/// The parser of one source; an enum, so that the parsing loop is specialised for each.
package enum SourceParser {
  case csv(CSVParser)
  case json(JSONParser)
  case shapedCSV(ShapedParser<CSVParser>)
  case shapedJSON(ShapedParser<JSONParser>)
}

extension PreparedSource {
  /// Makes the parser that turns this source into records of the run's columns.
  ///
  /// - Parameters:
  ///   - columns: the run's columns; grows by those that only this source has, new ones of the table last.
  ///   - state: where an earlier run's parser was; nil at the start of the source.
  /// - Throws: `guardRefused` when the table lacks a column and may not get it, or the state cannot be understood;
  ///   `usage` for unknown names.
  package func makeParser(
    columns: inout ColumnRegistry, table: TableFacts, options: LoadOptions, resuming state: ParserState? = nil
  ) throws(UpsurgeError) -> SourceParser {
    switch try makeParserAtStart(columns: &columns, table: table, options: options) {
    case .csv(var parser):
      if let state { try parser.resume(from: state) }
      return .csv(parser)
    case .json(var parser):
      if let state { try parser.resume(from: state) }
      return .json(parser)
    case .shapedCSV(var parser):
      if let state { try parser.resume(from: state) }
      return .shapedCSV(parser)
    case .shapedJSON(var parser):
      if let state { try parser.resume(from: state) }
      return .shapedJSON(parser)
    }
  }

  private func makeParserAtStart(
    columns: inout ColumnRegistry, table: TableFacts, options: LoadOptions
  ) throws(UpsurgeError) -> SourceParser {
    // What a table has as numbers is known only when there is one.
    let values = try ValueReaders(options.input.values, readsNumbers: !table.isForInference)
    switch shape {
    case .json(let format):
      try checkWrapper(for: table)
      // JSON names its columns as it goes; those that the table has are known from the start. The mark of rows that are
      // gone is the sweep's.
      for column in table.columns
      where columns.slot(named: column.name) == nil
        && !SQLName.isSame(column.name, options.rules.softColumn ?? "")
      {
        columns.add(column)
      }
      if options.shapesRecords {
        let names = ShapedSource.names([], options: options)
        try addMissing(names, columns: &columns, table: table, options: options)
        try addColumns(options, to: &columns, table: table, file: opened.name)
        return .shapedJSON(try shapedParser(format, columns: columns, table: table, options: options))
      }
      try addColumns(options, to: &columns, table: table, file: opened.name)
      var parser = JSONParser(
        dialect: jsonDialect(format, options: options), file: opened.name,
        columns: asDeclared(columns.targets),
        policy: JSONKeyPolicy(
          unknown: table.unknownKeys,
          wanted: options.table.columns.isEmpty ? nil : options.table.columns,
          renames: options.table.renames,
          mark: table.isForInference ? nil : options.rules.softColumn),
        blobs: blobs(for: table, options: options), columnLimit: table.recordColumnLimit, values: values)
      parser.columnCountFilledLater = Self.addedSlots(options, columns, table).count
      return .json(parser)
    case .csv(let sniffed):
      return try csvParser(sniffed, columns: &columns, table: table, options: options, values: values)
    }
  }

  private func csvParser(
    _ sniffed: CSVSniffResult, columns: inout ColumnRegistry, table: TableFacts, options: LoadOptions,
    values: ValueReaders?
  ) throws(UpsurgeError) -> SourceParser {
    let selection = FieldSelection(options: options)
    let names = try selection.columnNames(of: sniffed.headerNames, file: opened.name)
    let isShaped = options.shapesRecords
    try selection.checkFormats(
      options.input.values, against: isShaped ? ShapedSource.formatNames(names, sniffed.headerNames) : names,
      file: opened.name)
    try selection.checkAdded(options.table, against: names, file: opened.name)
    try addKnown(options, to: &columns, table: table)
    try addMissing(
      isShaped ? ShapedSource.names(names, options: options) : names, columns: &columns, table: table,
      options: options)
    try addColumns(options, to: &columns, table: table, file: opened.name)
    if isShaped {
      return .shapedCSV(
        try shapedParser(sniffed, names: names, columns: columns, table: table, options: options))
    }
    let slots = names.map { name in name.flatMap { columns.slot(named: $0) } }
    var parser = CSVParser(
      dialect: sniffed.dialect, file: opened.name, columns: columns.targets, slotOfField: slots,
      header: sniffed.header,
      extraSlot: sniffed.dialect.ragged == .extra ? columns.slot(named: Self.extraColumn) : nil,
      blobs: blobs(for: table, options: options), values: values,
      slotsFilledLater: Self.addedSlots(options, columns, table))
    mark(&parser)
    return .csv(parser)
  }

  /// Says to a parser what is known of the text's encoding.
  func mark(_ parser: inout CSVParser) {
    if opened.encoding != .utf8 {
      parser.encodingName = opened.encoding.rawValue
    } else {
      parser.beginsAsUTF8 = opened.sample.withUnsafeBufferPointer(CSVParser.beginsAsUTF8)
    }
  }

  /// The columns for a parser of rows. Days and times of a database are texts by their own type, so that a column that is declared
  /// as theirs is not one of numbers.
  func asDeclared(_ targets: [ColumnTarget]) -> [ColumnTarget] {
    guard let declared else { return targets }
    let moments = Set(
      declared.filter { $0.declaredType.map(Self.isMoment) ?? false }.map { SQLName.folded($0.name) })
    return targets.map { target in
      guard target.affinity == .numeric, moments.contains(SQLName.folded(target.name)) else { return target }
      var target = target
      target.affinity = .none
      return target
    }
  }

  private static func isMoment(_ declaredType: String) -> Bool {
    declaredType.hasPrefix("DATE") || declaredType.hasPrefix("TIME")
  }

  func jsonDialect(_ format: JSONFormat, options: LoadOptions) -> JSONDialect {
    var dialect = options.input.dialect(of: format)
    dialect.jsonPath = options.input.jsonPath
    dialect.allowsSequence = true
    dialect.needsLineEnd = options.delivery.needsLineEnd
    dialect.arrayNames = arrayNames(format, csv: options.input.csv)
    return dialect
  }

  /// What `--names`, `--no-header` and `--header-lines` mean for records that are arrays.
  private func arrayNames(_ format: JSONFormat, csv: CSVOverrides) -> JSONArrayNames {
    guard let names = csv.columnNames else {
      return csv.headerLineCount == 0 ? .numbered : .firstArray
    }
    if let count = csv.headerLineCount { return .given(names, replacesHeader: count > 0) }
    let isHeader = opened.sample.withUnsafeBufferPointer {
      JSONSniffer.beginsWithHeader($0, isDocument: format == .json, names: names)
    }
    return .given(names, replacesHeader: isHeader)
  }

  /// How text in BLOB columns is decoded; while types are looked for, text is text.
  func blobs(for table: TableFacts, options: LoadOptions) -> BlobDecoding? {
    guard let encoding = options.table.blobEncoding, !table.isForInference else { return nil }
    return BlobDecoding(
      encoding: encoding,
      files: encoding == .file ? BlobFolder(ofSource: opened.name, given: options.table.blobFolder) : nil,
      byteLimit: options.transaction.recordByteLimit)
  }

  /// Where `--ragged extra` keeps surplus fields.
  static let extraColumn = LoadOptions.Table.extraColumn

  private func addMissing(
    _ names: [String?], columns: inout ColumnRegistry, table: TableFacts, options: LoadOptions
  ) throws(UpsurgeError) {
    var wanted = names.compactMap { $0 }
    if case .csv(let sniffed) = shape, sniffed.dialect.ragged == .extra {
      if let taken = wanted.first(where: { SQLName.isSame($0, Self.extraColumn) }) {
        throw UpsurgeError(
          .usage,
          "\(.ragged, "extra") keeps surplus fields in the column \(Self.extraColumn), which \(opened.name) has itself",
          hint: "give the field another name: \(.rename, "\(taken)=NAME".quotedForShell)")
      }
      wanted.append(Self.extraColumn)
    }
    let missing = wanted.filter { columns.slot(named: $0) == nil }
    for name in missing {
      if let column = table.column(named: name) { columns.add(column) }
    }
    let new = missing.filter { columns.slot(named: $0) == nil }
    if new.isEmpty || table.leavesOutUnknown { return }
    guard table.takesUnknown else {
      try Self.checkComputed(new, options, table: table)
      throw lacking(new, in: table)
    }
    if let limit = table.limit(exceededBy: new.count, beside: columns.targets) {
      throw Self.tooManyColumns(
        wanted.count, in: opened.name, limit: limit, hint: "\(.columns, "A,B") loads only some")
    }
    // A column that the table gets one day converts the text then.
    let isUntyped = table.isForInference || table.quarantinesUnknown
    let types = isUntyped ? [] : try inferColumns(options: options)
    let typesByName = Dictionary(types.map { (SQLName.folded($0.name), $0.type) }) { first, _ in first }
    let declarations = Dictionary(options.table.types.map { (SQLName.folded($0.key), $0.value) }) {
      first, _ in
      first
    }
    for name in new {
      let type = typesByName[SQLName.folded(name)] ?? .text
      let declared = declarations[SQLName.folded(name)]
      let given = declared.map { Affinity(declaredType: $0) }
      let isConsented = options.table.consentedColumns.contains { SQLName.isSame($0, name) }
      columns.add(
        ColumnTarget(
          name: name, affinity: isUntyped ? .none : given ?? type.affinity,
          spellingPolicy: isConsented ? .warn : table.spellingPolicy, isBlob: declared?.contains("BLOB") ?? false))
    }
  }

  /// The refusal of more columns than SQLite takes.
  static func tooManyColumns(_ count: Int, in name: String, limit: Int, hint: Wording) -> UpsurgeError {
    UpsurgeError(
      .badInput,
      "\(SourceName.shown(name)) has \(count) columns, and SQLite takes at most \(limit) in a table",
      position: Position(file: name), hint: hint)
  }

  private func lacking(_ names: [String], in table: TableFacts) -> UpsurgeError {
    UpsurgeError(
      .guardRefused,
      "\(opened.name) has \(names.count == 1 ? "a field" : "fields") for which the table \(table.name) has no "
        + "column: \(FieldSelection.list(names))",
      hint: Self.rowidHint(names, table) ?? noHeaderHint(names, in: table)
        ?? "\(.alter) adds columns; \(.columns, "A,B") loads only some; \(.rename, "OLD=NEW") gives another name"
    )
  }

  /// What helps where the fields have only the names that are given to those of files without a header.
  private func noHeaderHint(_ names: [String], in table: TableFacts) -> Wording? {
    guard case .csv(let sniffed) = shape, sniffed.dialect.headerLineCount == 0,
      sniffed.headerNames == HeaderNames(count: sniffed.fieldCount).names,
      names.allSatisfy(sniffed.headerNames.contains)
    else { return nil }
    let columns = table.columns.prefix(sniffed.fieldCount).map(\.name)
    return
      "its records have no header: \(.noHeader) \(.names, FieldSelection.option(columns)) names the fields; \(.headerLines, "1") if "
      + "the first record does"
  }

  /// What helps with a field that is named as the rowid; a column of that name would only hide it.
  private static func rowidHint(_ names: [String], _ table: TableFacts) -> Wording? {
    guard let name = names.first(where: { table.rowid.isNamed($0) }) else { return nil }
    switch table.rowid {
    case .column(let column):
      let said: Wording =
        "\(.rename, "\(name)=\(column)".quotedForShell): the rowid of table \(table.name) is its column \(column)"
      return said.escapedForTerminal
    case .free:
      return
        "\(.key, name.escapedForTerminal) takes it for the number of the row; \(.columns, "A,B") loads only some"
    case .beside: return "\(.columns, "A,B") loads only some; \(.rename, "OLD=NEW") gives another name"
    case .none: return nil
    }
  }
}
