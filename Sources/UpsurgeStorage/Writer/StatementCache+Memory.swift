import CSQLite
import CScan
import UpsurgeRecords

/// What the statements take, and which of them go.
extension StatementCache {
  /// What SQLite says that a compiled statement takes, the triggers that it fires included.
  static func byteCount(of handle: OpaquePointer) -> Int {
    Int(sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_MEMUSED, 0))
  }

  /// The longest text of a statement that SQLite takes.
  var sqlByteLimit: Int { Int(sqlite3_limit(connection.handle, SQLITE_LIMIT_SQL_LENGTH, -1)) }

  /// Compiles a statement that is kept.
  /// - Throws: `usage` for one that is too large for the memory; `database`.
  @inline(never)
  func compile(_ sql: String) throws(UpsurgeError) -> OpaquePointer {
    let cost = StatementCost(sql).compileByteCount
    let isDear = cost > StatementCost.dearByteCount
    if isDear { try checkRoom(for: sql, cost) }
    // The cache of pages comes back by itself; so much at once would come on top of it.
    if isDear && !connection.isBorrowed {
      sqlite3_db_cacheflush(connection.handle)
      sqlite3_db_release_memory(connection.handle)
    }
    defer { if isDear { upsurge_trim_memory() } }
    guard let handle = try connection.compile(sql, isPersistent: true) else {
      throw UpsurgeError(.database, "SQLite compiled nothing", snippet: sql)
    }
    return handle
  }

  /// - Throws: `usage` for a statement that SQLite or the memory has no room for.
  private func checkRoom(for sql: String, _ cost: Int) throws(UpsurgeError) {
    let table = plan.schema.name.escapedForTerminal
    let columns = "\(plan.slots.count) columns of table \(table)"
    if sql.utf8.count > sqlByteLimit {
      throw UpsurgeError(
        .usage,
        "the statement for \(columns) is \(sql.utf8.count) bytes long, and SQLite takes \(sqlByteLimit)",
        hint: "\(.columns, "A,B") loads fewer of them")
    }
    if cost <= memory.compileByteCount { return }
    throw UpsurgeError(
      .usage, "the statement for \(columns) takes \(cost >> 20) MiB to compile",
      hint:
        "\(.memory, "\(StatementMemory.needed(for: cost))MiB") is enough for it; \(.columns, "A,B") loads fewer of them"
    )
  }

  /// Counts a statement that was just compiled, and lets others go until all fit.
  func count(_ handle: OpaquePointer, of current: ShapeStatements) {
    let byteCount = StatementCache.byteCount(of: handle)
    current.byteCount += byteCount
    self.byteCount += byteCount
    while isOverLimit {
      guard let index = pick(keeping: current) else { break }
      remove(index)
    }
    // What is left is what the writer holds on to, and the shape's own.
    if isOverLimit, let pinned, pinned !== current { self.byteCount -= pinned.finalize() }
    if isOverLimit { self.byteCount -= current.finalize(but: handle) }
  }

  private var isOverLimit: Bool { byteCount > memory.cacheByteCount || pickable.count > Self.shapeLimit }

  /// The place of a shape that can go; nil without one.
  private func pick(keeping current: ShapeStatements) -> Int? {
    var picked: Int?
    for _ in 0..<16 {
      lastPick = lastPick &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let index = Int((lastPick >> 33) % UInt64(pickable.count))
      let candidate = pickable[index]
      if candidate === current || candidate === pinned || index == picked { continue }
      if let other = picked { return pickable[other].lastUse < candidate.lastUse ? other : index }
      picked = index
    }
    return picked ?? pickable.firstIndex { $0 !== current && $0 !== pinned }
  }

  private func remove(_ index: Int) {
    let gone = pickable[index]
    pickable.swapAt(index, pickable.count - 1)
    pickable.removeLast()
    if gone.isBound { bound.removeAll { $0 === gone } }
    byteCount -= gone.byteCount
    shapes[gone.shape.words] = nil
  }
}
