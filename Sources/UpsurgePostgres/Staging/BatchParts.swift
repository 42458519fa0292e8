/// The parts of a batch, in their order. Each is stored by a transaction of its own, with a position of its own.
///
///     var parts = BatchParts(0..<batch.recordCount, capabilities)
///     while let part = parts.next {
///       BEGIN
///       next = store(part.records)     fails because of a record: ROLLBACK, parts.failed(failure), and on
///       COMMIT, with the position of the record before next
///       parts.stored(upTo: next)
///     }
///
/// A batch of which all records are good is one part. With savepoints a part ends early where the transaction should hold no more
/// of them. Without, as on Citus, a part that fails comes again as two halves, and a record that cannot be stored as a part whose
/// transaction notes the reject and nothing else.
package struct BatchParts: Sendable {
  private struct Piece {
    var records: Range<Int>
    /// Whether it must fail if the piece before it is stored: both together have failed.
    var isOtherHalf = false
    var rejected: BatchOutcomes.Rejected?
  }

  /// What is to be done; the next one is the last.
  private var pieces: [Piece] = []
  private let savepoints: Savepoints
  private let hidesFailures: Bool
  /// How many records are tried at once.
  private var window = Int.max

  private static let leastWindow = 256

  /// - Parameters:
  ///   - records: the indexes of those that are to be stored.
  ///   - isWhole: whether one transaction is to hold all of them, whatever that costs.
  package init(_ records: Range<Int>, _ capabilities: Capabilities, isWhole: Bool = false) {
    savepoints = isWhole ? .unbounded : capabilities.findsBadRecords ? .bounded : .none
    hidesFailures = capabilities.hidesFailures
    if !records.isEmpty { pieces = [Piece(records: records)] }
  }

  /// What the next transaction stores; nil after the last part.
  package var next: BatchPart? {
    guard let piece = pieces.last else { return nil }
    let start = piece.records.lowerBound
    let end = piece.records.count > window ? start + window : piece.records.upperBound
    return BatchPart(records: start..<end, rejected: piece.rejected, savepoints: savepoints)
  }

  /// Notes that the transaction of the next part stands.
  /// - Parameter end: its first record that is not done, or its upper bound.
  package mutating func stored(upTo end: Int) {
    guard let part = next, var piece = pieces.popLast() else { preconditionFailure("no part is open") }
    precondition(end > part.records.lowerBound, "a part that moves nothing would come for ever")
    // What is not done is sent again, so it should not be much.
    if end < part.records.upperBound {
      window = max((end - part.records.lowerBound) * 2, Self.leastWindow)
    } else if window < .max {
      window = window > Int.max / 4 ? .max : window * 4
    }
    piece.records = end..<piece.records.upperBound
    if !piece.records.isEmpty { return pieces.append(piece) }
    if let other = pieces.last, other.isOtherHalf, piece.rejected == nil {
      pieces.removeLast()
      split(other.records)
    }
  }

  /// Notes that the transaction of the next part was rolled back because of a record. It comes again in halves, or as a reject.
  /// - Throws: the failure, where it is not the fault of a record.
  package mutating func failed(_ failure: PostgresFailure) throws(PostgresFailure) {
    guard failure.isOfRecord(hidden: hidesFailures) else { throw failure }
    guard let part = next, let piece = pieces.popLast() else { preconditionFailure("no part is open") }
    if !pieces.isEmpty { pieces[pieces.count - 1].isOtherHalf = false }
    if part.records.upperBound < piece.records.upperBound {
      pieces.append(Piece(records: part.records.upperBound..<piece.records.upperBound))
    }
    if part.records.count == 1 {
      let rejected = BatchOutcomes.Rejected(record: part.records.lowerBound, cause: .failure(failure))
      pieces.append(Piece(records: part.records, rejected: rejected))
    } else {
      split(part.records)
    }
  }

  private mutating func split(_ records: Range<Int>) {
    if records.count == 1 { return pieces.append(Piece(records: records)) }
    let middle = records.lowerBound + records.count / 2
    pieces.append(Piece(records: middle..<records.upperBound, isOtherHalf: true))
    pieces.append(Piece(records: records.lowerBound..<middle))
  }
}

extension Capabilities {
  /// Whether bad records are found within a transaction, which goes on without them.
  var findsBadRecords: Bool { hasSavepoints && family != .citus }

  /// Workers of Citus say XX000 for what a record has done.
  var hidesFailures: Bool { family == .citus }
}

extension PostgresFailure {
  /// Whether a record is to blame.
  /// - Parameter hidesFailures: of the server.
  func isOfRecord(hidden hidesFailures: Bool) -> Bool {
    kind == .record || hidesFailures && sqlState == "XX000"
  }
}

/// A part of a batch that one transaction stores.
package struct BatchPart: Sendable, Equatable {
  /// The indexes of its records in the batch.
  package var records: Range<Int>
  /// The only record of the part, where that was found to be bad: nothing is sent.
  package var rejected: BatchOutcomes.Rejected?
  /// With which bad records are found within the transaction, if there are any.
  package var savepoints: Savepoints
}
