/// Ways to store that a writer may use; a stage says which of them it leaves open.
struct StorePermits: OptionSet {
  let rawValue: UInt8

  /// Many rows a statement; else each record goes alone.
  static let manyRows = StorePermits(rawValue: 1 << 0)
  /// The statement for all shapes (see `FlaggedStatement`).
  static let flagged = StorePermits(rawValue: 1 << 1)
  /// Records in the order of their key instead of the input's (see `Gathering`).
  static let sorted = StorePermits(rawValue: 1 << 2)
  /// Nothing at all for a record whose row says the same (see `EqualRecords`).
  static let leavingOutEqual = StorePermits(rawValue: 1 << 3)
  /// A commit while no records come.
  static let committingWhileIdle = StorePermits(rawValue: 1 << 4)

  /// For good: no record is taken back before its transaction ends.
  static let storingForGood = StorePermits(rawValue: 1 << 5)

  static let all: StorePermits = [
    .manyRows, .flagged, .sorted, .leavingOutEqual, .committingWhileIdle, .storingForGood,
  ]
}
