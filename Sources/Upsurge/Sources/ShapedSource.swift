import UpsurgeStorage

/// What the parsers of a source need whose records are shaped: by computed columns and a filter.
struct ShapedSource {
  let file: String
  let options: LoadOptions
  let table: TableFacts
  /// The columns of the run, all that the source needs among them.
  let columns: ColumnRegistry
  /// How text in BLOB columns is decoded.
  let blobs: BlobDecoding?
  let cancellation: ReadCancellation?

  private var computed: [LoadOptions.ComputedColumn] { options.table.computedColumns }

  /// The column of each field and, after them, the computed columns that no field has.
  static func names(_ names: [String?], options: LoadOptions) -> [String?] {
    let known = Set(names.compactMap { $0.map(SQLName.folded) })
    return names + options.table.computedColumns.map(\.name).filter { !known.contains(SQLName.folded($0)) }
  }

  /// A parser of CSV fields as they are written, and what makes records of them.
  /// - Parameters:
  ///   - header: the bytes of the header; nil where it is not known.
  ///   - fields: the names of the fields.
  ///   - names: the column of each field; nil for fields that are not wanted.
  func csv(
    _ dialect: CSVDialect, header: [UInt8]?, fields: [String], names: [String?]
  ) throws(UpsurgeError) -> (CSVParser, RecordShaper) {
    let sql = try sql(over: fields, isText: true)
    let fieldCount = fields.count
    var fields = fields
    var slots = names.map { name in name.flatMap { isComputed($0) ? nil : columns.slot(named: $0) } }
    var extraSlot: Int?
    if dialect.ragged == .extra {
      extraSlot = fieldCount
      fields.append(PreparedSource.extraColumn)
      slots.append(columns.slot(named: PreparedSource.extraColumn))
    }
    let spareCount = max(columns.targets.count - fields.count, 0)
    for index in 0..<spareCount {
      fields.append(NewFieldRules.padding(index))
      slots.append(nil)
    }
    let parsed = fields.enumerated().map { index, field in
      ColumnTarget(
        name: slots[index].map { columns.targets[$0].name } ?? field, affinity: .none, spellingPolicy: .warn)
    }
    let parser = CSVParser(
      dialect: dialect, file: file, columns: parsed, slotOfField: (0..<fieldCount).map { $0 }, header: header,
      extraSlot: extraSlot, spareCount: spareCount)
    let converter = FieldConverter(
      columns: columns.targets, isJSON: false, keepsQuotedEmpty: dialect.quotedEmpty == .text, blobs: blobs)
    return (
      parser,
      RecordShaper(sql, fields: fields, slots: slots, converter: converter, newFields: nil, file: file)
    )
  }

  /// A parser of JSON fields as they are written, and what makes records of them.
  /// - Parameters:
  ///   - targets: the run's columns as the parser of such a source is to fill them.
  ///   - known: names of fields that records are known to have.
  func json(
    _ dialect: JSONDialect, targets: [ColumnTarget], known: [String]
  ) throws(UpsurgeError) -> (JSONParser, RecordShaper) {
    let rules = NewFieldRules(table: table, options: options)
    var (fields, slots): ([String], [Int?]) = ([], [])
    for (slot, target) in columns.targets.enumerated() {
      let field = field(of: target.name)
      fields.append(field ?? NewFieldRules.padding(slot))
      slots.append(field.map { isStored($0, as: target.name) } == true ? slot : nil)
    }
    let all =
      fields.filter { !rules.isPadding($0) } + known + options.table.columns
      + options.table.renames.keys.sorted()
    let sql = try sql(over: Self.distinct(all), isText: false)
    let there = Set(fields.map(SQLName.folded))
    for name in sql.fieldNames where !there.contains(SQLName.folded(name)) {
      fields.append(name)
      slots.append(nil)
    }
    let wanted = options.table.columns.isEmpty ? nil : options.table.columns + sql.fieldNames
    let parser = JSONParser(
      dialect: dialect, file: file,
      columns: fields.map { ColumnTarget(name: $0, affinity: .text, spellingPolicy: .warn) },
      policy: JSONKeyPolicy(unknown: table.unknownKeys == .skip ? .skip : .addAsWritten, wanted: wanted))
    let converter = FieldConverter(columns: targets, isJSON: true, keepsQuotedEmpty: true, blobs: blobs)
    return (
      parser,
      RecordShaper(sql, fields: fields, slots: slots, converter: converter, newFields: rules, file: file)
    )
  }

  private func isComputed(_ column: String) -> Bool { computed.contains { SQLName.isSame($0.name, column) } }

  /// The field that a column is read from; nil where that goes to another column.
  private func field(of column: String) -> String? {
    let field = FeedRules.field(of: column, options: options)
    if !SQLName.isSame(field, column) { return field }
    return SQLName.isSame(FeedRules.column(of: column, options: options), column) ? column : nil
  }

  private func isStored(_ field: String, as column: String) -> Bool {
    let wanted = options.table.columns
    return !isComputed(column) && (wanted.isEmpty || wanted.contains { SQLName.isSame($0, field) })
  }

  private static func distinct(_ names: [String]) -> [String] {
    var seen: Set<String> = []
    return names.filter { seen.insert(SQLName.folded($0)).inserted }
  }

  /// The SQL over fields of these names.
  private func sql(over fields: [String], isText: Bool) throws(UpsurgeError) -> ComputedColumns {
    var fields = fields
    if table.mayLackFields {
      fields += RecordSQL.possibleFields(computed.map(\.sql) + [options.input.filter ?? ""], beside: fields)
    }
    let sql = try RecordSQL(
      computed.map { RecordSQL.Column(name: $0.name, sql: $0.sql) }, where: options.input.filter,
      fields: fields,
      isText: isText, byteLimit: options.transaction.recordByteLimit, cancellation: cancellation)
    return ComputedColumns(
      sql, fields: fields, slots: computed.map { columns.slot(named: $0.name) }, targets: columns.targets)
  }
}
