/// Reads raw records again, one at a time, as the load that rejected them has read them.
///
/// Records of one context and one file share a parser. What it finds goes to `batch`: one record, under the place where
/// it stood in the input.
package struct RawRecordParser: ~Copyable {
  /// What must be known of the table.
  package struct Place {
    let tableName: String
    /// The table's columns.
    let targets: [ColumnTarget]
    let primaryKeyColumns: [String]

    package init(tableName: String, targets: [ColumnTarget], primaryKeyColumns: [String]) {
      (self.tableName, self.targets, self.primaryKeyColumns) = (tableName, targets, primaryKeyColumns)
    }
  }

  /// What came of a record's bytes.
  package enum Outcome {
    /// The batch holds the record.
    case record
    case rejected(Reject)
    /// The table has no place for it, for this reason.
    case refused(String)
  }

  /// The raw text of a line is not one record.
  static let notOneRecord = Reject.Code(rawValue: "not-one-record")

  /// The columns of the first record.
  package let columns: [ColumnTarget]
  package var batch: Batch
  private var csv: CSVParser?
  private var json: JSONParser?
  /// Whether the JSON parser knows whether records are objects or arrays.
  private var isPrimed = false
  private let context: RejectContext
  private let file: String
  private let policy: JSONKeyPolicy
  private let blobs: BlobDecoding?
  private let values: ValueReaders?
  private let added: AddedCells

  /// - Parameters:
  ///   - file: the input from which the records came.
  ///   - blobFolder: where the files of `--blob file` lie. The caller says so: what the context names could be any folder.
  ///   - byteLimit: what files may take that a record names.
  /// - Throws: `guardRefused` where the table lacks a column that the records have; `usage` where they name files, and
  ///   nobody has said where those are.
  package init(
    _ context: RejectContext, file: String, place: Place, rules: UpsertRules, blobFolder: String?,
    byteLimit: Int
  ) throws(UpsurgeError) {
    if context.blobEncoding == .file, blobFolder == nil {
      throw UpsurgeError(
        .usage, "the records name files, which are read only in a folder that you give",
        hint: "upsurge replay \(.blobFolder, "DIR"), where their files lie")
    }
    let registry = try Self.registry(context, place, rules)
    let values = try ValueReaders(context.values)
    self.values = values
    var options = LoadOptions()
    options.table.added = context.added
    added = AddedCells(options, columns: registry, file: file, isJSON: context.isJSON, startedAt: "", now: "")
    self.context = context
    self.file = file
    columns = registry.targets
    blobs = context.blobEncoding.map {
      BlobDecoding(
        encoding: $0, files: $0 == .file ? BlobFolder(ofSource: file, given: blobFolder) : nil,
        byteLimit: byteLimit)
    }
    policy = Self.policy(context, rules: rules)
    batch = Batch(sizes: Batch.Sizes(arenaByteCount: 64 << 10, cellCount: 1 << 10, recordCount: 64))
    switch context.layout {
    case .csv(let dialect, let fields):
      csv = CSVParser(
        dialect: dialect, file: file, columns: columns,
        slotOfField: fields.map { name in name.flatMap { registry.slot(named: $0) } },
        extraSlot: dialect.ragged == .extra ? registry.slot(named: PreparedSource.extraColumn) : nil,
        blobs: blobs, values: values,
        slotsFilledLater: Set(context.added.keys.compactMap { registry.slot(named: $0) }))
    case .json(let dialect, _, _, _): json = makeJSONParser(dialect, .ndjson)
    }
  }

  /// Reads one record.
  /// - Throws: nothing that the bytes could be blamed for.
  package mutating func parse(_ record: Reject) throws(UpsurgeError) -> Outcome {
    do throws(UpsurgeError) {
      if csv != nil {
        try read(record.raw)
      } else if try !readJSON(record) {
        return .rejected(notAnObject(record))
      }
    } catch {
      switch error.code {
      case .guardRefused: return .refused(error.message)
      case .badInput: return .rejected(record.again(.jsonSyntax, error.message))
      default: throw error
      }
    }
    // A record whose quotes make no sense ends at its line end: what follows is part of it here.
    if var reject = batch.rejects.first, batch.recordCount == 0 || isFirst(reject) {
      reject.position = record.position
      reject.raw = record.raw
      return .rejected(reject)
    }
    guard batch.recordCount == 1, batch.rejects.isEmpty else {
      let count = batch.recordCount + batch.rejects.count
      return .rejected(
        record.again(
          Self.notOneRecord,
          "the raw text holds \(count == 0 ? "no record" : "\(count) records"), and must hold exactly one"))
    }
    let start = UInt64(batch.records[0].arenaOffset)
    batch.records[0].number = record.position.record ?? 0
    batch.records[0].line = record.position.line ?? 0
    batch.origin.sourceOffset = (record.position.byte ?? 0) &- start
    if !added.isEmpty { added.fill(&batch, file: file) }
    return .record
  }

  /// Whether a reject stands before all records of the batch.
  private func isFirst(_ reject: Reject) -> Bool {
    (reject.position.record ?? 0) < batch.records[0].number
  }

  // MARK: - Parsing

  private mutating func read(_ raw: [UInt8]) throws(UpsurgeError) {
    try Self.fill(&batch, raw)
    while true {
      if csv != nil { try csv?.parse(&batch, isFinal: true) } else { try json?.parse(&batch, isFinal: true) }
      guard batch.growth.wantedSpillByteCount > 0, batch.recordCount == 0 else { return }
      batch.growSpill()
    }
  }

  /// - Returns: false for an array among objects.
  private mutating func readJSON(_ record: Reject) throws(UpsurgeError) -> Bool {
    guard case .json(let dialect, let header, _, _) = context.layout else { return true }
    if dialect.mapColumn != nil { return try readMember(record.raw, dialect) }
    // NDJSON ends a record at the line end; those of a document, or corrected ones, may have several lines.
    if !record.raw.contains(0x0A) {
      if !isPrimed {
        try Self.fill(&batch, header.isEmpty ? Array("{}\n".utf8) : Self.text(of: header) + [0x0A])
        try json?.parse(&batch, isFinal: false)
        isPrimed = true
      }
      try read(record.raw)
      return true
    }
    let first = record.raw.first { $0 != 0x20 && !(0x09...0x0D).contains($0) }
    if header.isEmpty, first == UInt8(ascii: "[") { return false }
    let names = header.isEmpty ? [] : Self.text(of: header) + [UInt8(ascii: ",")]
    let lines = json
    json = makeJSONParser(dialect, .json)
    defer { json = lines }
    try read([UInt8(ascii: "[")] + names + record.raw + [UInt8(ascii: "]")])
    if let columns = json?.columns, columns.count > self.columns.count {
      throw UpsurgeError(
        .guardRefused, "the record has a key for which there is no column yet, and stands on several lines")
    }
    return true
  }

  /// Reads a member of a map, its key included.
  private mutating func readMember(_ raw: [UInt8], _ dialect: JSONDialect) throws(UpsurgeError) -> Bool {
    json = makeJSONParser(dialect, .json)
    try read([UInt8(ascii: "{")] + raw + [UInt8(ascii: "}")])
    if let columns = json?.columns, columns.count > self.columns.count {
      throw UpsurgeError(.guardRefused, "the record has a key for which there is no column yet")
    }
    return true
  }

  private static func fill(_ batch: inout Batch, _ bytes: [UInt8]) throws(UpsurgeError) {
    batch.reset()
    if bytes.count > batch.arenaCapacity { batch.growArena(to: bytes.count) }
    batch.arena.update(from: bytes, count: bytes.count)
    batch.arenaByteCount = bytes.count
  }

  private func makeJSONParser(_ dialect: JSONDialect, _ format: JSONFormat) -> JSONParser {
    var dialect = dialect
    dialect.format = format
    return JSONParser(
      dialect: dialect, file: file, columns: columns, policy: policy, blobs: blobs, values: values)
  }

  private func notAnObject(_ record: Reject) -> Reject {
    record.again(.notAnObject, "expected an object, found an array")
  }

  private static func text(of names: [String]) -> [UInt8] {
    var text = JSONText()
    text.strings(names)
    return text.bytes
  }

  // MARK: - Columns

  /// The fields' columns, and those that the rules speak of.
  private static func registry(
    _ context: RejectContext, _ place: Place, _ rules: UpsertRules
  ) throws(UpsurgeError) -> ColumnRegistry {
    var registry = ColumnRegistry()
    let known = ColumnRegistry(place.targets)
    if case .csv(let dialect, let fields) = context.layout {
      let extra = dialect.ragged == .extra ? [PreparedSource.extraColumn] : []
      for name in fields.compactMap({ $0 }) + extra where registry.slot(named: name) == nil {
        registry.add(try target(name, place, rules, context.contract, known))
      }
    } else {
      for target in known.targets { registry.add(target) }
    }
    for name in context.added.keys.sorted() where registry.slot(named: name) == nil {
      registry.add(try target(name, place, rules, context.contract, known))
    }
    for name in columns(of: rules, place) where registry.slot(named: name) == nil {
      if let slot = known.slot(named: name) { registry.add(known.targets[slot]) }
    }
    if let name = rules.tombstone?.column, registry.slot(named: name) == nil {
      registry.add(ColumnTarget(name: name, affinity: .none, spellingPolicy: .warn))
    }
    return registry
  }

  private static func target(
    _ name: String, _ place: Place, _ rules: UpsertRules, _ contract: SchemaContract,
    _ known: ColumnRegistry
  ) throws(UpsurgeError) -> ColumnTarget {
    if let slot = known.slot(named: name) { return known.targets[slot] }
    let isControl = rules.tombstone.map { SQLName.isSame($0.column, name) } ?? false
    guard isControl || contract == .quarantine else {
      throw UpsurgeError(
        .guardRefused,
        "table \(place.tableName.escapedForTerminal) has no column \(name.escapedForTerminal), which the records have"
      )
    }
    return ColumnTarget(name: name, affinity: .none, spellingPolicy: .warn)
  }

  /// The columns that rules speak of, whether records have them or not.
  private static func columns(of rules: UpsertRules, _ place: Place) -> [String] {
    var names = rules.target.columnNames + rules.merge.columns.keys.sorted()
    if rules.target == .primaryKey, rules.mode != nil, rules.mode != .insert {
      names += place.primaryKeyColumns
    }
    if let newer = rules.merge.newer { names.append(newer.column) }
    return names
  }

  private static func policy(
    _ context: RejectContext, rules: UpsertRules
  ) -> JSONKeyPolicy {
    var policy = JSONKeyPolicy(unknown: .refuse(table: context.table))
    switch context.contract {
    case .quarantine: policy.unknown = .addUntyped
    case _ where rules.mode == .delete: policy.unknown = .skip
    case .evolve: policy.unknown = .add(context.spellingPolicy)
    case .freeze: break
    }
    if case .json(_, _, let wanted, let renames) = context.layout {
      policy.wanted = wanted
      policy.renames = renames
    }
    return policy
  }
}

extension Reject {
  /// The reject of this record for another reason.
  func again(_ code: Code, _ reason: String, column: String? = nil) -> Reject {
    var reject = self
    reject.code = code
    reject.said = Wording(reason)
    reject.column = column
    reject.remedy = nil
    return reject
  }
}
