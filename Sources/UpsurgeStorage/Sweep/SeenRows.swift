import CSQLite
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

/// The rows of a table that records of a snapshot were about, so that the others can be swept.
///
/// Rows are told by their rowid, a bit each: 8 MiB have room for 60 million neighbours. Where rowids lie so far apart that
/// the bits would take too much memory, and in WITHOUT ROWID tables, they go to a temporary database, which no rollback of
/// the table's own touches. SQLite itself finds the row of a record, so collations, affinities and expressions of the key
/// mean here what they mean there.
final class SeenRows {
  /// The columns that tell a row, by index.
  let columns: [Int]
  private let store: Store
  private let function: String
  private let schema: TableSchema
  /// How many they are.
  private(set) var count: UInt64 = 0

  /// - Throws: `usage` for what has no rows of its own, and where a stored record need not be found by its key.
  init(_ plan: UpsertPlan, on connection: Connection, memory: SeenMemory) throws(UpsurgeError) {
    let schema = plan.schema
    try Self.check(plan)
    self.schema = schema
    columns = plan.identityColumns
    store = Store(memory)
    if schema.isWithoutRowid {
      try store.makeTable(columns.map { "COLLATE \(schema.columns[$0].collation)" })
    }
    connection.seenCount += 1
    function = "upsurge_has_seen_\(connection.seenCount)"
    try connection.define(function, columnCount: columns.count, asking: store)
  }

  private static func check(_ plan: UpsertPlan) throws(UpsurgeError) {
    let name = plan.schema.name.escapedForTerminal
    guard plan.schema.kind == .table, plan.schema.isWithoutRowid || plan.schema.rowidName != nil else {
      throw UpsurgeError(
        .usage, "\(name) cannot be swept: its rows cannot be told apart",
        hint: "\(saying: Wording("sweep: none", call: "sweeping: .none")) leaves rows alone")
    }
    guard !plan.lookUpKeys.isEmpty else { throw .sweepWithoutKey(of: plan.schema.name) }
    if plan.rules.nullKeys == .insert || plan.lookUpKeys.contains(where: \.isPartial) {
      throw UpsurgeError(
        .usage,
        "table \(name) cannot be swept: not every record that is stored can be found by its key again",
        hint: Wording(
          "leave out null-keys: insert and key-where, or sweep: none",
          call: "leave out nullKeys = .insert and where:, or sweeping: .none"))
    }
  }

  func insert(_ rowid: Int64) throws(UpsurgeError) {
    guard let bits = store.bits else {
      if try store.insert(rowid) { count += 1 }
      return
    }
    if let isNew = bits.insert(rowid) {
      if isNew { count += 1 }
      return
    }
    try store.spill()
    try insert(rowid)
  }

  /// Inserts many rows by their rowids, which `rowid` gives away.
  func insert(count rowCount: Int, _ rowid: (Int) -> Int64) throws(UpsurgeError) {
    guard let bits = store.bits else {
      for index in 0..<rowCount { try insert(rowid(index)) }
      return
    }
    let inserted = bits.insert(count: rowCount, rowid)
    count += UInt64(inserted.newCount)
    if inserted.count == rowCount { return }
    try store.spill()
    for index in inserted.count..<rowCount { try insert(rowid(index)) }
  }

  /// Whether a row is one of them, in a table with rowids.
  func contains(_ rowid: Int64) throws(UpsurgeError) -> Bool { try store.contains(rowid) }

  /// All of them, in a table with rowids.
  func rowids() throws(UpsurgeError) -> [Int64] { try store.rowids() }

  /// Inserts the row whose `columns` a statement stands on.
  func insert(rowOf handle: OpaquePointer) throws(UpsurgeError) {
    if schema.isWithoutRowid {
      if try store.insert(rowOf: handle, columnCount: columns.count) { count += 1 }
      return
    }
    try insert(sqlite3_column_int64(handle, 0))
  }

  /// Inserts a row by what names it.
  func insert(_ row: [SQLValue]) throws(UpsurgeError) {
    if schema.isWithoutRowid { return try store.insert(row) }
    if case .integer(let rowid)? = row.first { try insert(rowid) }
  }

  /// Hands what is in a temporary database over to the calling thread.
  func moveToCurrentThread() { store.moveToCurrentThread() }

  /// SQL that is true of a row of the table that no record was about.
  func unseenTerm() throws(UpsurgeError) -> String { "NOT \(function)(\(try schema.terms(columns)))" }

  /// What holds the rows; the SQL function keeps it as long as the connection lives.
  fileprivate final class Store {
    private(set) var bits: RowidSet?
    private let memory: SeenMemory
    /// The temporary database, and the name of the table in it.
    private var database: Connection?
    private var table = ""
    private var insertion: Statement?
    private var question: Statement?

    init(_ memory: SeenMemory) {
      self.memory = memory
      bits = RowidSet(memory)
    }

    /// - Parameter kinds: what follows the name of each column.
    func makeTable(_ kinds: [String]) throws(UpsurgeError) {
      bits = nil
      let names = kinds.indices.map { "k\($0)" }
      let columns = zip(names, kinds).map { "\($0) \($1)" }.joined(separator: ", ")
      let isRowid = kinds == [Self.rowidKind]
      let (made, table) = try memory.makeTable(
        columns: isRowid ? columns : "\(columns), PRIMARY KEY (\(names.joined(separator: ", ")))",
        options: isRowid ? "" : "WITHOUT ROWID")
      self.table = table
      let places = names.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
      insertion = try made.prepare("INSERT OR IGNORE INTO \(table) VALUES (\(places))", isPersistent: true)
      let conditions = names.enumerated().map { "\($1) = ?\($0 + 1)" }.joined(separator: " AND ")
      question = try made.prepare("SELECT 1 FROM \(table) WHERE \(conditions)", isPersistent: true)
      database = made
    }

    private static let rowidKind = "INTEGER PRIMARY KEY"

    func spill() throws(UpsurgeError) {
      guard let full = bits else { return }
      try makeTable([Self.rowidKind])
      try full.visit { rowid throws(UpsurgeError) in _ = try insert(rowid) }
    }

    /// - Returns: whether it is new.
    func insert(_ rowid: Int64) throws(UpsurgeError) -> Bool {
      guard let insertion else { return false }
      defer { insertion.reset() }
      try insertion.bind(rowid, at: 1)
      _ = try insertion.step()
      return sqlite3_changes(insertion.connection.handle) > 0
    }

    func contains(_ rowid: Int64) throws(UpsurgeError) -> Bool {
      if let bits { return bits.contains(rowid) }
      guard let question else { return false }
      defer { question.reset() }
      try question.bind(rowid, at: 1)
      return try question.step()
    }

    func rowids() throws(UpsurgeError) -> [Int64] {
      var list: [Int64] = []
      if let bits {
        bits.visit { list.append($0) }
      } else if let all = try database?.prepare("SELECT k0 FROM \(table) ORDER BY 1") {
        while try all.step() { list.append(all.integer(at: 0)) }
      }
      return list
    }

    /// - Returns: whether it is new.
    func insert(rowOf handle: OpaquePointer, columnCount: Int) throws(UpsurgeError) -> Bool {
      guard let insertion else { return false }
      defer { insertion.reset() }
      for index in 0..<Int32(columnCount) {
        sqlite3_bind_value(insertion.handle, index + 1, sqlite3_column_value(handle, index))
      }
      _ = try insertion.step()
      return sqlite3_changes(insertion.connection.handle) > 0
    }

    func insert(_ row: [SQLValue]) throws(UpsurgeError) {
      guard let insertion else { return }
      defer { insertion.reset() }
      for (index, value) in row.enumerated() { try insertion.bind(value, at: Int32(index + 1)) }
      _ = try insertion.step()
    }

    func moveToCurrentThread() { database?.moveToCurrentThread() }

    /// - Returns: nil when the temporary database cannot be read.
    func contains(_ values: UnsafeMutablePointer<OpaquePointer?>, count: Int32) -> Bool? {
      if let bits { return bits.contains(sqlite3_value_int64(values[0])) }
      guard let question else { return nil }
      for index in 0..<count { sqlite3_bind_value(question.handle, index + 1, values[Int(index)]) }
      defer { question.reset() }
      switch sqlite3_step(question.handle) {
      case SQLITE_ROW: return true
      case SQLITE_DONE: return false
      default: return nil
      }
    }

    func clear() {
      (insertion, question) = (nil, nil)
      // What cannot be dropped goes with the temporary database.
      try? database?.execute("DROP TABLE \(table)")
      database = nil
      bits = RowidSet(memory)
    }
  }

  /// Gives the memory back; nothing may be asked any more.
  func remove() { store.clear() }
}

extension Connection {
  /// Registers a function that says whether a row is among those that were seen.
  fileprivate func define(
    _ name: String, columnCount: Int, asking store: SeenRows.Store
  ) throws(UpsurgeError) {
    let code = sqlite3_create_function_v2(
      handle, name, Int32(columnCount), SQLITE_UTF8 | SQLITE_DIRECTONLY,
      Unmanaged.passRetained(store).toOpaque(),
      { context, count, values in
        guard let user = sqlite3_user_data(context), let values else { return }
        let store = Unmanaged<SeenRows.Store>.fromOpaque(user).takeUnretainedValue()
        switch store.contains(values, count: count) {
        case true?: sqlite3_result_int(context, 1)
        case false?: sqlite3_result_int(context, 0)
        case nil: sqlite3_result_error(context, "the temporary database cannot be read", -1)
        }
      }, nil, nil, { user in user.map { Unmanaged<SeenRows.Store>.fromOpaque($0).release() } })
    try check(code, sql: name)
  }
}
