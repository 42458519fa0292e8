/// Which path the batches of a table take, and why.
///
///     new table     a run makes it                                    NewTableWriter
///     append        no row in the batch's key range                   AppendWriter
///     walk          the rows of the key range are compared here       WalkWriter
///     delta         a join finds what differs                         DeltaWriter
///     ordered       ON CONFLICT, in the order of arrival              OrderedWriter
///     unnest        the same without a temporary table                UnnestWriter
///
/// A table has a path for all that is to be written, its base. Where nothing in the table is against it, a batch may append, or
/// walk first.
package struct PathChoice: Sendable, Equatable {
  package enum Path: String, Sendable, CaseIterable {
    case newTable = "new table"
    case append, walk, delta, ordered, unnest
  }

  /// A path, and the reason in words: the end of a sentence that begins with the path.
  package struct Reasoned: Sendable, Equatable {
    package var path: Path
    package var reason: String
  }

  /// What takes whatever is to be written.
  package let base: Reasoned
  /// Why a batch is never appended; nil where it may be.
  package let appendObjection: String?
  /// Why the rows are never compared here; nil where they may be.
  package let walkObjection: String?
  /// Whether small batches need no temporary table.
  let unnestsSmall: Bool

  /// Batches of fewer records make no temporary table: each leaves rows in the server's catalogue.
  package static let smallBatchCount = 5_000

  /// A table has 1,600 columns at most, and staging tables have some of their own.
  private static let stagedColumnLimit = 1_590

  package init(_ shape: RecordShape, _ capabilities: Capabilities) {
    let deltaObjection = Self.objection(toDelta: shape, capabilities)
    if !capabilities.hasTemporaryTables {
      base = Reasoned(path: .unnest, reason: "no temporary table can be made here")
    } else if shape.columns.count > Self.stagedColumnLimit {
      base = Reasoned(path: .unnest, reason: "a staging table has no room for more columns than the table's own")
    } else if let deltaObjection {
      base = Reasoned(path: .ordered, reason: deltaObjection)
    } else {
      base = Reasoned(path: .delta, reason: "records of different keys have nothing to do with one another")
    }
    appendObjection = Self.objection(toCopiesOf: capabilities.family) ?? Self.objection(toAppend: shape)
    walkObjection = Self.objection(toCopiesOf: capabilities.family) ?? Self.objection(toWalk: shape)
    // Where new rows are only told from others in a snapshot, the delta path needs none.
    unnestsSmall = !Self.lacksNeeded(shape) && !(base.path == .delta && OrderedPlan(shape, capabilities).needsSnapshot)
  }

  /// The path of one batch.
  /// - Parameters:
  ///   - recordCount: how many records it has.
  ///   - isRangeFree: whether the table has no row in its key range.
  ///   - isDense: whether most rows of its key range are those of its records.
  package func path(recordCount: Int, isRangeFree: Bool, isDense: Bool) -> Reasoned {
    if appendObjection == nil, isRangeFree {
      return Reasoned(path: .append, reason: "the table has no row in the batch's key range")
    }
    if walkObjection == nil, isDense {
      return Reasoned(path: .walk, reason: "most rows of the batch's key range are those of its records")
    }
    if recordCount < Self.smallBatchCount, unnestsSmall, base.path != .unnest {
      return Reasoned(path: .unnest, reason: "a batch of fewer than \(Self.smallBatchCount) records makes no temporary table")
    }
    return base
  }

  // MARK: - Objections

  /// Why only the order of arrival is right; nil where it does not matter.
  static func objection(toDelta shape: RecordShape, _ capabilities: Capabilities) -> String? {
    let table = shape.table
    guard let key = shape.key else { return "there is no key" }
    if capabilities.family != .postgreSQL { return "\(capabilities.family.name) joins no table with a temporary one" }
    if table.kind == .distributed { return "the table is distributed" }
    if table.kind != .table && table.kind != .partitioned { return "it is no table of this server" }
    if table.hasForeignPartitions { return "some rows are on other servers" }
    if shape.rules.action != .store { return "only rows that are there change" }
    if !shape.rules.changes.isEmpty || shape.rules.condition != nil { return "SQL decides what becomes of a row" }
    if shape.rules.conflict == .fail { return "a row of the same key is an error" }
    if key.predicate != nil { return "the key is one of some rows" }
    guard let columns = key.columns, columns.allSatisfy({ name in shape.columns.contains { $0.name == name } }) else {
      return "the key has an expression"
    }
    if key.treatsNullsAsEqual, !columns.allSatisfy({ table.column($0)?.isNotNull == true }) { return "two NULLs are the same key" }
    if key.parts.contains(where: { part in part.column.flatMap { table.column($0) }?.collation?.name != part.collation?.name }) {
      return "the key has a collation of its own"
    }
    return objection(toReordering: shape)
  }

  /// Why records of different keys must stay in their order; nil where they have nothing to do with one another.
  static func objection(toReordering shape: RecordShape) -> String? {
    let (table, key) = (shape.table, shape.key)
    if let trigger = table.triggers.first(where: { $0.isForEachRow && $0.isEnabled }) { return "the trigger \(trigger.name) runs for each row" }
    if !table.rules.isEmpty { return "the rule \(table.rules[0].name) changes what is stored" }
    if table.hasRowSecurity { return "policies decide which rows are seen" }
    if let index = table.uniqueIndexes.first(where: { $0.name != key?.name && !isFilledByItself($0, shape) }) {
      return "\(index.name) is a second unique key"
    }
    if let name = table.partitionKeys.first { return "\(name) is a unique key of a partition" }
    for constraint in table.constraints {
      if case .exclusion = constraint.kind { return "\(constraint.name) excludes rows" }
      if case .foreignKey(_, isOwnTable: true) = constraint.kind { return "\(constraint.name) points to the same table" }
    }
    return nil
  }

  /// A key whose columns no record has, and which a sequence fills: it has nothing to do with records.
  private static func isFilledByItself(_ index: PostgresIndex, _ shape: RecordShape) -> Bool {
    guard shape.table.kind == .table, let columns = index.columns, index.predicate == nil else { return false }
    return columns.allSatisfy { name in !shape.columns.contains { $0.name == name } }
      && columns.contains { shape.table.column($0)?.sequence != nil }
  }

  /// Why rows are neither copied into the table nor out of it; nil where they may be.
  private static func objection(toCopiesOf family: ServerFamily) -> String? {
    family.keepsDDLInTransactions ? nil : "COPY of \(family.name) is not that of PostgreSQL"
  }

  private static func objection(toAppend shape: RecordShape) -> String? {
    let table = shape.table
    if shape.rules.action != .store { return "only rows that are there change" }
    if table.kind != .table && table.kind != .partitioned && table.kind != .distributed { return "it is no table of this server" }
    if table.hasForeignPartitions { return "some rows are on other servers" }
    if table.hasRowTriggers { return "a trigger runs for each row" }
    if !table.rules.isEmpty { return "COPY passes rules by" }
    if table.hasRowSecurity { return "COPY does not go together with policies" }
    if shape.columns.contains(where: { BinaryColumn($0).form == .castText }) { return "a column has a type that is sent as text" }
    if shape.columns.contains(where: { $0.generation == .identityAlways }), !shape.rules.overridesIdentity {
      return "COPY writes any identity"
    }
    return nil
  }

  /// Why a record that is the same as its row at the batch's beginning may not be left out; nil where it may.
  private static func objection(toWalk shape: RecordShape) -> String? {
    let table = shape.table
    if shape.key == nil { return "there is no key" }
    if shape.rules.action != .store { return "only rows that are there change" }
    if !table.rights.selects { return "the table may not be read" }
    if table.kind != .table && table.kind != .partitioned && table.kind != .distributed { return "it is no table of this server" }
    if table.hasForeignPartitions { return "some rows are on other servers" }
    if !shape.rules.changes.isEmpty || shape.rules.condition != nil { return "SQL decides what becomes of a row" }
    if shape.rules.conflict == .fail { return "a row of the same key is an error" }
    if table.hasRowTriggers { return "a trigger runs for each row" }
    if !table.rules.isEmpty { return "a rule changes what is stored" }
    if table.hasRowSecurity { return "policies decide which rows are seen" }
    if table.constraints.contains(where: { if case .foreignKey(_, isOwnTable: true) = $0.kind { true } else { false } }) {
      return "a row points to another one of the same table"
    }
    if !shape.hasSortableKey { return "only the server knows the order of keys" }
    if shape.columns.contains(where: { [.json, .jsonb].contains(BinaryColumn($0).form) }) { return "JSON has many spellings" }
    return nil
  }

  /// Whether the records lack a column that every row must have: only an UPDATE of its own can do without.
  private static func lacksNeeded(_ shape: RecordShape) -> Bool {
    if shape.rules.action != .store { return false }
    let own = Set(shape.columns.map(\.name))
    return shape.table.columns.contains {
      !own.contains($0.name) && $0.isNotNull && $0.defaultExpression == nil && $0.generation == nil && $0.sequence == nil
    }
  }
}
