import UpsurgeRecords

/// Puts tuples into statements as large as they may be, and each statement on its own line with a semicolon.
struct StatementPacker {
  /// The longest statement in bytes, its semicolon included.
  let byteLimit: Int
  /// The most tuples a statement takes.
  let rowLimit: Int
  /// Finished statements, for the caller to take.
  private(set) var finished: [UInt8] = []
  private var open: [UInt8] = []
  private var template: StatementTemplate?
  private var rowCount = 0

  /// Longer statements are refused by SQLite itself unless it is built or told otherwise
  /// (https://www.sqlite.org/limits.html, SQLITE_MAX_SQL_LENGTH).
  static let sqliteByteLimit = 1_000_000

  init(byteLimit: Int, rowLimit: Int = 1_000) {
    self.byteLimit = min(byteLimit, StatementPacker.sqliteByteLimit)
    self.rowLimit = rowLimit
  }

  /// Adds what `template` made of one record.
  mutating func add(_ tuple: [UInt8], _ template: StatementTemplate) {
    let isSame = self.template === template && rowCount < rowLimit
    if isSame && open.count + 2 + tuple.count + template.tail.count + 1 <= byteLimit {
      open += [UInt8(ascii: ","), 0x0A]
    } else {
      close()
      open = template.head
      self.template = template.isPackable ? template : nil
    }
    open += tuple
    rowCount += 1
    if !template.isPackable {
      open += template.tail
      close()
    }
  }

  /// Adds a statement that has no tuples, without its semicolon.
  mutating func add(statement: String) {
    close()
    open = Array(statement.utf8)
    close()
  }

  /// Ends the statement that tuples are being added to.
  mutating func close() {
    if !open.isEmpty {
      finished += open
      finished += template?.tail ?? []
      finished += [UInt8(ascii: ";"), 0x0A]
    }
    open.removeAll(keepingCapacity: true)
    template = nil
    rowCount = 0
  }

  /// Forgets everything that was not taken.
  mutating func removeAll() {
    open.removeAll(keepingCapacity: true)
    finished.removeAll(keepingCapacity: true)
    template = nil
    rowCount = 0
  }

  /// The finished statements; they are the caller's now.
  mutating func take() -> [UInt8] {
    defer { finished.removeAll(keepingCapacity: true) }
    return finished
  }
}
