import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

/// Rowids of a table that a statement is about, without a table that would hold them.
final class RowList {
  private let list: List
  /// SQL that is true of a row that is one of them; finds the rows by their rowid.
  let term: String

  fileprivate final class List {
    let rowids: [Int64]

    init(_ rowids: [Int64]) { self.rowids = rowids }
  }

  /// - Parameter rowidName: a name of the rowid in the table.
  init(_ rowids: [Int64], rowidName: String, on connection: Connection) throws(UpsurgeError) {
    list = List(rowids)
    connection.seenCount += 1
    let function = "upsurge_listed_\(connection.seenCount)"
    term =
      rowids.isEmpty
      ? "0"
      : """
      \(rowidName) IN (WITH RECURSIVE upsurge_number(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM upsurge_number
      WHERE i < \(rowids.count - 1)) SELECT \(function)(i) FROM upsurge_number)
      """
    let code = sqlite3_create_function_v2(
      connection.handle, function, 1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
      Unmanaged.passRetained(list).toOpaque(),
      { context, _, values in
        guard let user = sqlite3_user_data(context), let values else { return }
        let rowids = Unmanaged<List>.fromOpaque(user).takeUnretainedValue().rowids
        let index = Int(sqlite3_value_int64(values[0]))
        if rowids.indices.contains(index) { sqlite3_result_int64(context, rowids[index]) }
      }, nil, nil, { user in user.map { Unmanaged<List>.fromOpaque($0).release() } })
    try connection.check(code, sql: function)
  }
}

/// A set of hashes that are spread already.
struct HashSet {
  private var slots: [UInt64]
  private let mask: Int
  private var hasZero = false

  /// - Parameter count: at most so many are inserted.
  init(count: Int) {
    var capacity = 16
    while capacity < count * 2 { capacity *= 2 }
    slots = Array(repeating: 0, count: capacity)
    mask = capacity - 1
  }

  mutating func insert(_ hash: UInt64) {
    if hash == 0 {
      hasZero = true
      return
    }
    var index = Int(truncatingIfNeeded: hash) & mask
    while slots[index] != 0 && slots[index] != hash { index = (index + 1) & mask }
    slots[index] = hash
  }

  func contains(_ hash: UInt64) -> Bool {
    if hash == 0 { return hasZero }
    var index = Int(truncatingIfNeeded: hash) & mask
    while slots[index] != 0 {
      if slots[index] == hash { return true }
      index = (index + 1) & mask
    }
    return false
  }
}
