import UpsurgeRecords

/// What a writer must know to store records once more, from a savepoint on.
struct RecordHold {
  /// The savepoint, which stands only while `isSet`.
  static let savepoint = "upsurge_held"

  var isSet = false
  /// The first record and the first reject of the batch in hand that are held.
  var start = (record: 0, reject: 0)
  /// The first reject of the batch in hand that is still to come.
  var nextReject = 0
  /// Which slice the records in hand will be, or are.
  var slice = 0
  /// Whether what is held begins after a reject that was given away.
  var isBehind = false
  /// Whether records were rejected that are to be given away at the end.
  var hasRejects = false
  /// Whether each record has stored a row, or is not one to be stored: then a row that one record has made comes only with it.
  var isPlain = true
  /// Whether a record has taken from others what they refer to.
  var hasMoved = false
  /// Whether anything is in the tables of `ReferenceSetters`.
  var hasSetters = false
  /// Columns that were added to the table.
  var addedColumns: [String] = []

  // What was counted at the savepoint.
  var ledger = Ledger()
  var rejectsByReason: [Reject.Code: UInt64] = [:]

  /// What is done with the records in hand.
  enum Pass {
    /// The records come from the input.
    case first
    /// The records are stored once more, without culprits.
    case trial
    /// The records are stored for the last time: rejects are given away.
    case last
  }
  var pass = Pass.first

  /// The ordinal of a record of the batch in hand.
  func ordinal(of record: Int) -> Int64 { Int64(slice) << 32 | Int64(record - start.record) }
}
