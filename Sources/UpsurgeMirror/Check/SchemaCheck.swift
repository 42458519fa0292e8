import Upsurge
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

/// What a table's schema has that its feed cannot follow.
struct SchemaCheck {
  let job: MirrorJob
  let table: MirrorTable
  /// The fields of the header, where the feed is a file with one that is here.
  var header: [String]?

  private func warning(_ code: SchemaWarning.Code, _ message: String, fix: String) -> SchemaWarning {
    SchemaWarning(table: table.name, code: code, message: message, fix: fix)
  }

  /// Of a table that is not there.
  func missing() -> SchemaWarning {
    if !table.options.table.createsTable {
      return warning(
        .missingTable, "it is not there, and create: never makes none",
        fix: "make it with CREATE TABLE, or leave out create")
    }
    var note = warning(
      .missingTable, "it is not there; the first run makes it, with types that fit its delivery",
      fix:
        "upsurge inspect SOURCE shows its CREATE TABLE; make it yourself to decide on types and constraints")
    note.isNote = true
    return note
  }

  /// - Parameter state: what the database notes of feeds.
  func warnings(_ schema: TableSchema, in state: any MirrorState) -> [SchemaWarning] {
    let schema = schema.namingRowid(for: table.options.rules.target)
    let key = self.key(in: schema)
    var warnings = scopeWarnings(schema, in: state) + markWarnings(schema)
    guard schema.kind == .table else { return warnings }
    if let warning = keyWarning(key, schema) { warnings.append(warning) }
    if let key { warnings += numberWarnings(key, schema, in: state) + otherKeyWarnings(key, schema) }
    return warnings + columnWarnings(schema) + referenceWarnings(schema)
  }

  // MARK: - Keys

  /// The key that decides which row a record is about; nil without one, or where several do.
  func key(in schema: TableSchema) -> TableSchema.Key? {
    switch table.options.rules.target {
    case .primaryKey: schema.keys.first { $0.kind == .primaryKey }
    case .columns(let names, let predicate): schema.key(names, where: predicate)
    case .index(let name): schema.keys.first { SQLName.isSame($0.indexName ?? "", name) }
    case .any, .firstOf: nil
    }
  }

  private func keyWarning(_ key: TableSchema.Key?, _ schema: TableSchema) -> SchemaWarning? {
    if key != nil || table.options.rules.mode == .insert { return nil }
    switch table.options.rules.target {
    case .primaryKey:
      return warning(
        .keyWithoutIndex,
        "it has no PRIMARY KEY and the job names no key, so that every run adds all records anew",
        fix: "add key: [COLUMN], and a UNIQUE index on it")
    case .columns(let names, let predicate):
      if table.options.indexes.createsKey { return nil }
      let sql = try? UpsertPlan.createKeySQL(names, where: predicate, schema: schema)
      return warning(
        .keyWithoutIndex, "its key (\(names.joined(separator: ", "))) has no PRIMARY KEY or UNIQUE index",
        fix: (sql.map { "\($0); or " } ?? "") + "create-key: true, which makes it")
    case .index(let name):
      let known = schema.keys.compactMap(\.indexName).joined(separator: ", ")
      return warning(
        .keyWithoutIndex, "it has no UNIQUE index \(name)",
        fix: known.isEmpty ? "make it, or name columns by key" : "key-index takes one of: \(known)")
    case .any, .firstOf: return nil
    }
  }

  private func numberWarnings(
    _ key: TableSchema.Key, _ schema: TableSchema, in state: any MirrorState
  ) -> [SchemaWarning] {
    guard key.isRowidAlias, schema.hasAutoincrement else { return [] }
    var feeds = "\(table.sources.count) sources"
    if table.sources.count == 1 {
      let known = (try? state.feeds(of: table.name)) ?? []
      let others = known.map(\.ownedBy).filter { !$0.isEmpty && $0 != table.ownedBy }
      if others.isEmpty { return [] }
      feeds = (others + [table.ownedBy ?? "this job"]).joined(separator: ", ")
    }
    return [
      warning(
        .sharedNumbers,
        "\(feeds) bring rows of one \(key) AUTOINCREMENT: each counts from 1, and where two use "
          + "a number, the later row takes the place of the earlier one",
        fix:
          "a key that no two sources share, such as PRIMARY KEY (source, id), or UUIDs; or a table for each source"
      )
    ]
  }

  private func otherKeyWarnings(_ key: TableSchema.Key, _ schema: TableSchema) -> [SchemaWarning] {
    let own = Set((key.columns ?? []).map { SQLName.folded($0) })
    return schema.keys.filter { other in
      // The number of a row that the feed does not know is SQLite's to give.
      if other == key || other.isRowidAlias { return false }
      // What holds a unique column is unique by it.
      let columns = Set((other.columns ?? []).map { SQLName.folded($0) })
      if !key.isPartial, !own.isEmpty, own.isSubset(of: columns) { return false }
      return other.columns.map { $0.allSatisfy(mayBring) } ?? true
    }.map { other in
      warning(
        .otherKey,
        "\(other) is a second key: a record with a key of its own that has the value of another row there is rejected",
        fix:
          "any-key: true, if either key says which row a record is about; else DROP the index, or leave the column out "
          + "by columns")
    }
  }

  // MARK: - Columns

  /// The columns that records bring, folded, as far as the job or the header says which.
  var brought: Set<String>? {
    let fields =
      table.options.table.columns.isEmpty
      ? table.options.input.csv.columnNames ?? header ?? [] : table.options.table.columns
    if fields.isEmpty { return nil }
    let renames = Dictionary(table.options.table.renames.map { (SQLName.folded($0.key), $0.value) }) {
      first, _ in
      first
    }
    let computed = table.options.table.computedColumns.map { SQLName.folded($0.name) }
    return Set(fields.map { SQLName.folded(renames[SQLName.folded($0)] ?? $0) } + computed)
  }

  func mayBring(_ column: String) -> Bool { brought?.contains(SQLName.folded(column)) ?? true }

  private var isByHeader: Bool {
    header != nil && table.options.table.columns.isEmpty && table.options.input.csv.columnNames == nil
  }

  private func columnWarnings(_ schema: TableSchema) -> [SchemaWarning] {
    var warnings: [SchemaWarning] = []
    for (index, column) in schema.columns.enumerated() where !column.isHidden {
      if column.generation != .none {
        guard mayBring(column.name) else { continue }
        warnings.append(
          warning(
            .generatedColumn, "\(column.name) is computed by the database, and no feed can say what it holds",
            fix: "if the feed has a field of this name: columns without it, or rename it to another column"))
      } else if table.options.rules.mode != .update, table.options.rules.mode != .delete, column.isNotNull,
        column.defaultExpression == nil, index != schema.rowidAlias,
        !mayBring(column.name)
      {
        warnings.append(
          warning(
            .missingValue,
            "\(column.name) is NOT NULL, has no default, and is not among the columns that "
              + (isByHeader
                ? "the feed has now: new rows are rejected" : "the job takes: new rows are rejected"),
            fix: isByHeader
              ? "give it a DEFAULT, or make it nullable; rename: {OTHER: \(column.name)}, if the feed has it by another name"
              : "take it by columns, or give it a DEFAULT, or make it nullable"))
      }
    }
    return warnings
  }

  private func markWarnings(_ schema: TableSchema) -> [SchemaWarning] {
    guard case .soft(let name) = table.sweep, schema.columnIndex(name) == nil else { return [] }
    return [
      warning(
        .missingMark, "it has no column \(name), which is to say that a row is gone",
        fix:
          "ALTER TABLE \((try? SQLName.quote(schema.name)) ?? "") ADD COLUMN \((try? SQLName.quote(name)) ?? "") TEXT"
      )
    ]
  }

  private func scopeWarnings(_ schema: TableSchema, in state: any MirrorState) -> [SchemaWarning] {
    guard let scope = table.scope else { return [] }
    do throws(UpsurgeError) {
      try state.check(scope: scope, of: job.isOnServer ? table.name : schema.name)
      return []
    } catch {
      return [
        warning(
          .badScope, "scope is no condition over its rows: \(error.message)",
          fix: "write SQL over its columns, as in: tenant = 7")
      ]
    }
  }

  // MARK: - References

  /// Whether the rows of another table go in the same transaction.
  private func isSweptFirst(_ name: String) -> Bool {
    job.atomicity != .bounded && job.tables.contains { SQLName.isSame($0.name, name) && $0.sweep == .hard }
  }

  private func referenceWarnings(_ schema: TableSchema) -> [SchemaWarning] {
    guard table.sweep == .hard else { return [] }
    return schema.referencingKeys.filter { key in
      // Rows that refer to each other go together, and children that are swept, too, go first.
      key.keepsParent && !SQLName.isSame(key.table, schema.name) && !isSweptFirst(key.table)
    }.map { key in
      warning(
        .keptByReferences,
        "its rows are swept, and \(key.table) (\(key.columns.joined(separator: ", "))) refers to them with ON DELETE "
          + "\(key.onDelete): where one is referred to, no row goes and the run ends with exit code 4",
        fix: "ON DELETE CASCADE or SET NULL in \(key.table), or sweep: {soft: COLUMN}, which marks rows")
    }
  }
}
