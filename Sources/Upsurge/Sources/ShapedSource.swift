import UpsurgeStorage

/// What the parsers of a source need whose records are shaped: by computed columns and a filter.
struct ShapedSource {
  let file: String
  let options: LoadOptions
  var table: TableFacts
  /// The columns of the run, all that the source needs among them.
  let columns: ColumnRegistry
  /// How text in BLOB columns is decoded.
  let blobs: BlobDecoding?
  let cancellation: ReadCancellation?
  /// Fields whose values are numbers, where no column of their own says so; the names are folded.
  var numberFields: Set<String> = []
  /// Whether records of JSON may have fields that were not looked for.
  var hasMoreFields = false

  private var computed: [LoadOptions.ComputedColumn] { options.table.computedColumns }

  /// The column of each field and, after them, the computed columns that no field has.
  static func names(_ names: [String?], options: LoadOptions) -> [String?] {
    let known = Set(names.compactMap { $0.map(SQLName.folded) })
    return names + options.table.computedColumns.map(\.name).filter { !known.contains(SQLName.folded($0)) }
  }

  /// The name by which options speak of the values of each field: that of its column or, where it is left out, its own. A field
  /// whose own name is another one's column has none that anybody could give.
  static func formatNames(_ names: [String?], _ fields: [String]) -> [String] {
    let known = Set(names.compactMap { $0.map(SQLName.folded) })
    return zip(names, fields).enumerated().map { index, pair in
      if let name = pair.0 { return name }
      return known.contains(SQLName.folded(pair.1)) ? "\(pair.1) (field \(index + 1))" : pair.1
    }
  }

  /// A parser of CSV fields as they are written, and what makes records of them.
  /// - Parameters:
  ///   - header: the bytes of the header; nil where it is not known.
  ///   - fields: the names of the fields.
  ///   - names: the column of each field; nil for fields that are not wanted.
  func csv(
    _ dialect: CSVDialect, header: [UInt8]?, fields: [String], names: [String?]
  ) throws(UpsurgeError) -> (CSVParser, RecordShaper) {
    let formatNames = Self.formatNames(names, fields)
    var record = RecordFields(fields + possibleFields(beside: fields), isText: true)
    record.flags = Self.flags(formatNames, in: options.input.values)
    let sql = try sql(over: record)
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
      let name = slots[index].map { columns.targets[$0].name }
      var target = ColumnTarget(
        name: name ?? (index < fieldCount ? formatNames[index] : field), affinity: .none,
        spellingPolicy: .warn)
      target.isDecimal =
        index < fieldCount && isNumber(fields[index], slot: slots[index], column: names[index])
      return target
    }
    let values = try ValueReaders(options.input.values)
    let parser = CSVParser(
      dialect: dialect, file: file, columns: parsed, slotOfField: (0..<fieldCount).map { $0 }, header: header,
      extraSlot: extraSlot, values: values)
    let converter = FieldConverter(
      columns: columns.targets, isJSON: false,
      keepsQuotedEmpty: dialect.quotedEmpty == .text && dialect.bareEmpty == .null, blobs: blobs,
      formats: options.input.values)
    return (parser, shaper(sql, fields: fields, slots: slots, converter: converter, newFields: nil))
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
    let sql = try sql(over: record(fields.filter { !rules.isPadding($0) }, known: known))
    let there = Set(fields.map(SQLName.folded))
    let early = table.unknownKeys == .skip ? [] : Self.names(in: known, before: sql.fieldNames)
    let kept = early.filter { isStored($0, as: FeedRules.column(of: $0, options: options)) }
    for name in Self.distinct(kept + sql.fieldNames) where !there.contains(SQLName.folded(name)) {
      fields.append(name)
      slots.append(nil)
    }
    let wanted = options.table.columns.isEmpty ? nil : options.table.columns + sql.fieldNames
    let asked = Set(sql.fieldNames.map(SQLName.folded))
    let parsed = fields.enumerated().map { index, field in
      var target = ColumnTarget(name: field, affinity: .text, spellingPolicy: .warn)
      let column = FeedRules.column(of: field, options: options)
      let slot = index < slots.count ? slots[index] : nil
      target.isDecimal =
        (index < columns.targets.count || asked.contains(SQLName.folded(field)))
        && isNumber(field, slot: slot, column: column)
      target.isBlob = slot.map { columns.targets[$0].isBlob } ?? false
      return target
    }
    let parser = JSONParser(
      dialect: dialect, file: file, columns: parsed,
      policy: JSONKeyPolicy(unknown: table.unknownKeys == .skip ? .skip : .addAsWritten, wanted: wanted),
      values: try ValueReaders(options.input.values.named(by: field), readsBlobs: blobs == nil))
    let converter = FieldConverter(
      columns: targets, isJSON: true, keepsQuotedEmpty: true, blobs: blobs, formats: options.input.values)
    let numbers = options.input.values.readsNumbers ? parsed.indices.filter { parsed[$0].isDecimal } : []
    return (
      parser,
      shaper(
        sql, fields: fields, slots: slots, converter: converter, newFields: rules, readNumbers: Set(numbers))
    )
  }

  /// The fields of JSON that SQL may speak of.
  /// - Parameter columns: fields that go to columns of the run.
  private func record(_ columns: [String], known: [String]) -> RecordFields {
    let isKnown = Set((known + options.table.renames.keys).map(SQLName.folded))
    let others = Self.distinct(columns + known + options.table.columns + options.table.renames.keys.sorted())
    // A computed column is no field by itself.
    let fields = others.filter {
      isKnown.contains(SQLName.folded($0)) || !isComputed($0) || takesPlaceOfField($0)
    }
    var record = RecordFields(fields + possibleFields(beside: fields), isText: false)
    record.hasMore = hasMoreFields
    return record
  }

  /// Whether a column of a table that exists is computed from the field of its own name, which records may lack.
  private func takesPlaceOfField(_ column: String) -> Bool {
    !table.isNew
      && computed.contains { SQLName.isSame($0.name, column) && RecordSQL.names(column, in: $0.sql) }
  }

  /// Fields of CSV that are read as yes and no.
  static func flags(_ formatNames: [String], in values: ValueFormats) -> Set<Int> {
    if values.truths.isEmpty { return [] }
    let isFlag = { (name: String) in
      if case .truth? = ValueReaders.form(of: name, in: values) { return true }
      return false
    }
    return Set(formatNames.indices.filter { isFlag(formatNames[$0]) })
  }

  /// Names of the SQL that earlier records may have had a field of.
  private func possibleFields(beside fields: [String]) -> [String] {
    if !table.mayLackFields { return [] }
    return RecordSQL.possibleFields(computed.map(\.sql) + [options.input.filter ?? ""], beside: fields)
  }

  private func shaper(
    _ sql: ComputedColumns, fields: [String], slots: [Int?], converter: FieldConverter,
    newFields: NewFieldRules?,
    readNumbers: Set<Int> = []
  ) -> RecordShaper {
    let filledLater = PreparedSource.addedSlots(options, columns, table)
    return RecordShaper(
      sql, fields: fields, slots: slots, converter: converter, newFields: newFields, file: file,
      readNumbers: readNumbers, filledLaterCount: filledLater.count)
  }

  /// Whether the values of a field are numbers, which `--decimal` and `--thousands` are about. Its column says so; that of a
  /// computed one only where the table has had it, as else its type is that of what is computed.
  private func isNumber(_ field: String, slot: Int?, column: String?) -> Bool {
    if let slot, !table.isForInference { return columns.targets[slot].isNumber }
    if numberFields.contains(SQLName.folded(field)) { return true }
    guard let column, !table.isForInference, !table.isNew else { return false }
    return columns.slot(named: column).map { columns.targets[$0].isNumber } ?? false
  }

  private func isComputed(_ column: String) -> Bool { options.table.isComputed(column) }

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

  /// The names up to the last that the SQL speaks of. New columns come in the order of the parsed cells, which is to be that of
  /// the input.
  private static func names(in known: [String], before spoken: [String]) -> ArraySlice<String> {
    let spoken = Set(spoken.map(SQLName.folded))
    return known.lastIndex { spoken.contains(SQLName.folded($0)) }.map { known[...$0] } ?? []
  }

  private static func distinct(_ names: [String]) -> [String] {
    var seen: Set<String> = []
    return names.filter { seen.insert(SQLName.folded($0)).inserted }
  }

  /// The SQL over fields of these names.
  private func sql(over record: RecordFields) throws(UpsurgeError) -> ComputedColumns {
    var record = record
    record.renames = options.table.renames
    let sql = try RecordSQL(
      computed.map { RecordSQL.Column(name: $0.name, sql: $0.sql) }, where: options.input.filter,
      fields: record, byteLimit: options.transaction.recordByteLimit, cancellation: cancellation)
    return ComputedColumns(
      sql, fields: record.names, slots: computed.map { columns.slot(named: $0.name) },
      targets: columns.targets)
  }
}
