import UpsurgeRecords

/// Warnings of the record in work: they count only when it is stored. However often a record gives one, it is noted once,
/// with its number, and found again without a search.
///
///     list     a: text, b: repeated 3      in order of first appearance
///     places   0 . . . . . 1               by `id`, which says the column and the kind; may be out of date
struct JSONPendingWarnings {
  private struct Warning {
    let code: WarningLog.Code
    let column: String?
    let id: Int
    var count: UInt64
  }

  /// What a warning is about.
  enum Kind: Int {
    /// The value of a column. At most one of each column is noted.
    case value
    case duplicateKey
    case columnCollision
    /// Keys whose objects are taken apart, counted by key instead of column.
    case duplicateObject
    /// The column of a key that is the empty text.
    case emptyKey
  }

  private var list: [Warning] = []
  private var places: [Int32] = []

  /// Entries of `list` that were forgotten; their count is 0.
  private var forgottenCount = 0
  private static let fewestToCompact = 64

  var isEmpty: Bool { list.isEmpty }

  mutating func removeAll() {
    list.removeAll(keepingCapacity: true)
    forgottenCount = 0
  }

  /// Counts one more of a warning.
  /// - Parameter place: the slot of the column, or the key where the kind is `duplicateObject`.
  /// - Returns: false where it is the first of its kind; then it is not noted.
  mutating func noteAgain(_ kind: Kind, at place: Int) -> Bool {
    guard let index = index(of: Self.id(kind, place)) else { return false }
    list[index].count += 1
    return true
  }

  /// Notes the first warning of its kind.
  mutating func note(_ code: WarningLog.Code, _ kind: Kind, at place: Int, column: String?) {
    let id = Self.id(kind, place)
    if id >= places.count { places += Array(repeating: -1, count: max(id + 1 - places.count, places.count)) }
    places[id] = Int32(truncatingIfNeeded: list.count)
    list.append(Warning(code: code, column: column, id: id, count: 1))
  }

  /// Forgets what was noted of a column's value.
  mutating func forgetValue(_ slot: Int) {
    guard let index = index(of: Self.id(.value, slot)) else { return }
    list[index].count = 0
    places[list[index].id] = -1
    forgottenCount += 1
    if forgottenCount >= Self.fewestToCompact && forgottenCount > list.count / 2 { compact() }
  }

  /// Takes the forgotten ones out, so that a value that comes again and again leaves no trail.
  private mutating func compact() {
    list.removeAll { $0.count == 0 }
    for (index, warning) in list.enumerated() { places[warning.id] = Int32(truncatingIfNeeded: index) }
    forgottenCount = 0
  }

  func forEach(_ body: (WarningLog.Code, _ column: String?, _ count: UInt64) -> Void) {
    for warning in list where warning.count > 0 { body(warning.code, warning.column, warning.count) }
  }

  private static func id(_ kind: Kind, _ place: Int) -> Int { place << 3 | kind.rawValue }

  private func index(of id: Int) -> Int? {
    guard id < places.count else { return nil }
    let index = Int(places[id])
    return index >= 0 && index < list.count && list[index].id == id ? index : nil
  }
}
