import CSQLite
import UpsurgePlan

/// The statements for records of one shape.
final class ShapeStatements {
  /// What a statement that looks the row up does with it.
  enum Role: Hashable {
    case delete
    /// By the target of this index.
    case update(Int)
    /// Reads a row if the target of this index finds one.
    case exists(Int)
    /// Reads these columns.
    case find([Int])
    /// Reads these columns of the row with the record's PRIMARY KEY.
    case findByPrimaryKey([Int])
    /// Says whether a key's expressions are NULL.
    case nullKey

    /// The target that finds the row, by index.
    var target: Int {
      switch self {
      case .update(let target), .exists(let target): target
      default: 0
      }
    }
  }

  let shape: SlotShape
  let form: StatementForm
  /// Whether its records go alone.
  let isSingleRow: Bool
  /// The cells to bind, in parameter order.
  let cellIndexes: UnsafeMutableBufferPointer<Int32>
  /// Rows of each statement, falling, the last is 1.
  let rowCounts: [Int]
  var handles: [OpaquePointer?]
  var byKey: [Role: OpaquePointer] = [:]
  /// What the statements take, as SQLite measures it.
  var byteCount = 0
  /// When they were asked for last.
  var lastUse = 0
  /// Whether pointers may be bound to one of the statements.
  var isBound = false

  init(shape: SlotShape, cellIndexes: [Int32], form: StatementForm, rowCounts: [Int]) {
    self.shape = shape
    self.form = form
    isSingleRow = form == .singleRow
    self.cellIndexes = .allocate(capacity: cellIndexes.count)
    _ = self.cellIndexes.initialize(from: cellIndexes)
    self.rowCounts = rowCounts
    handles = Array(repeating: nil, count: rowCounts.count)
  }

  deinit {
    finalize()
    cellIndexes.deallocate()
  }

  /// Lets go of all statements but one; they can be compiled again.
  /// - Returns: the bytes that they took.
  @discardableResult
  func finalize(but kept: OpaquePointer? = nil) -> Int {
    let before = byteCount
    byteCount = 0
    for index in handles.indices {
      guard let handle = handles[index] else { continue }
      if handle == kept {
        byteCount = StatementCache.byteCount(of: handle)
      } else {
        sqlite3_finalize(handle)
        handles[index] = nil
      }
    }
    for (role, handle) in byKey {
      if handle == kept {
        byteCount = StatementCache.byteCount(of: handle)
      } else {
        sqlite3_finalize(handle)
        byKey[role] = nil
      }
    }
    return before - byteCount
  }
}
