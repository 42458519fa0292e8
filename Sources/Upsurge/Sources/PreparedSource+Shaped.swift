/// Parsers of records that are shaped.
extension PreparedSource {
  func shapedParser(
    _ sniffed: CSVSniffResult, names: [String?], columns: ColumnRegistry, table: TableFacts,
    options: LoadOptions
  ) throws(UpsurgeError) -> ShapedParser<CSVParser> {
    var source = shaped(columns: columns, table: table, options: options)
    source.numberFields = try numberFields(for: table, options: options)
    var (parser, shaper) = try source.csv(
      sniffed.dialect, header: sniffed.header, fields: sniffed.headerNames, names: names)
    mark(&parser)
    return ShapedParser(parser, shaper, file: opened.name)
  }

  func shapedParser(
    _ format: JSONFormat, columns: ColumnRegistry, table: TableFacts, options: LoadOptions
  ) throws(UpsurgeError) -> ShapedParser<JSONParser> {
    var source = shaped(columns: columns, table: table, options: options)
    if table.isForInference { source.numberFields = declaredNumberFields(options) }
    source.hasMoreFields = declared == nil && !opened.isSampleWhole && options.table.inference != .full
    let known = try knownNames(options: options)
    // Without a record there are no fields, and none is lacking.
    if known.isEmpty && opened.isSampleWhole { source.table.mayLackFields = true }
    let (parser, shaper) = try source.json(
      jsonDialect(format, options: options), targets: asDeclared(columns.targets), known: known)
    return ShapedParser(parser, shaper, file: opened.name)
  }

  private func shaped(columns: ColumnRegistry, table: TableFacts, options: LoadOptions) -> ShapedSource {
    var table = table
    // An empty file has no fields, and lacks none.
    if isBlank { table.mayLackFields = true }
    return ShapedSource(
      file: opened.name, options: options, table: table, columns: columns,
      blobs: blobs(for: table, options: options),
      cancellation: opened.cancellation)
  }

  /// The names of the fields in the first part of the source, or in all of it where that is read for types.
  private func knownNames(options: LoadOptions) throws(UpsurgeError) -> [String] {
    if let declared { return declared.map(\.name) }
    var alone = options.withFieldsAlone
    if options.table.inference != .full || opened.isSampleWhole {
      return try sampleColumns(options: alone).map(\.name)
    }
    if let known = allNames.withLock({ $0 }) { return known }
    alone.rules.key = []
    let names = try inferColumns(options: alone).map(\.name)
    allNames.withLock { $0 = names }
    return names
  }

  // MARK: - Numbers

  /// Fields of CSV whose values are numbers as `--decimal` and `--thousands` say, where no column of their own says so: those
  /// that only SQL reads and, while types are looked for, all. The names are folded.
  func numberFields(for table: TableFacts, options: LoadOptions) throws(UpsurgeError) -> Set<String> {
    guard options.shapesRecords, options.input.values.readsNumbers, !isJSON else { return [] }
    let names = try FieldSelection(options: options).columnNames(of: headerNames, file: opened.name)
    let isOwn = { (index: Int) in names[index].map { !options.table.isComputed($0) } ?? false }
    var alone = options.withFieldsAlone
    var fields: Set<String> = []
    if names.indices.contains(where: { !isOwn($0) }) {
      (alone.table.inference, alone.rules.key) = (.sample, [])
      fields = Self.numbers(of: try sampleColumns(options: alone))
        .intersection(names.indices.filter { !isOwn($0) }.map { SQLName.folded(headerNames[$0]) })
    }
    guard table.isForInference else { return fields }
    (alone.table.inference, alone.rules.key) = (
      options.table.inference, options.fields(of: options.rules.key)
    )
    if alone.table.inference != .none {
      fields.formUnion(
        Self.numbers(of: try inferColumns(options: alone))
          .intersection(names.indices.filter(isOwn).map { SQLName.folded(headerNames[$0]) }))
    }
    let declared = Set(options.fields(of: Array(options.table.types.keys)).map(SQLName.folded))
    return fields.subtracting(declared).union(declaredNumberFields(options))
  }

  /// Fields whose columns `--type` makes columns of numbers.
  private func declaredNumberFields(_ options: LoadOptions) -> Set<String> {
    let numeric = options.table.types.filter { Affinity(declaredType: $0.value).isNumeric }.map(\.key)
    return Set(options.fields(of: numeric.filter { !options.table.isComputed($0) }).map(SQLName.folded))
  }

  private static func numbers(of columns: [InferredColumn]) -> Set<String> {
    Set(columns.filter { $0.type == .integer || $0.type == .real }.map { SQLName.folded($0.name) })
  }
}

extension LoadOptions {
  /// What reads all fields under their own names, and nothing else.
  var withFieldsAlone: LoadOptions {
    var plain = self
    (plain.table.computedColumns, plain.input.filter) = ([], nil)
    (plain.table.columns, plain.table.renames, plain.table.added) = ([], [:], [:])
    plain.tuning.surveysValues = false
    plain.input.values = input.values.named { column in
      let field = FeedRules.field(of: column, options: self)
      return table.renames.keys.contains { SQLName.isSame($0, field) } && SQLName.isSame(field, column)
        ? nil : field
    }
    return plain
  }

  /// The fields of columns.
  fileprivate func fields(of columns: [String]) -> [String] {
    columns.map { FeedRules.field(of: $0, options: self) }
  }
}
