import UpsurgeRecords

/// Where in the input the last commit of a run stands: committed in the transaction of the rows.
///
/// A run that goes on reads from `restart`, the start of the batch in which the last committed record stood, and leaves
/// out the records up to that one. `block` are the bytes between the two, as a proof that they are still the same.
package struct RunPosition: Sendable, Equatable {
  /// Index of the source that was being read; those before it are done.
  package var sourceIndex = 0
  /// The last record whose outcome is committed.
  package var position = Position(file: "-")
  /// nil where the source was not begun.
  package var restart: Restart?
  package var block: Block?
  /// Lengths of the output files at that commit, by option.
  package var outputLengths: [String: UInt64] = [:]
  /// Whether the run has made the table.
  package var madeTable = false
  /// The connections that store the run's records; nil where it is one.
  package var lanes: Lanes?

  /// Several connections, each of which is at a place of its own.
  package struct Lanes: Sendable, Equatable {
    package var count: Int
    /// How often this position was written down: what a connection notes belongs to one of these times.
    package var seal: UInt64
    /// What decides which connection stores a record: a run that resumes must divide its records as before.
    package var division: String

    /// A server has 100 connections for all of its clients, unless somebody says otherwise.
    package static let mostCount = 64

    package init(count: Int, seal: UInt64 = 0, division: String) {
      (self.count, self.seal, self.division) = (count, seal, division)
    }
  }

  package struct Block: Sendable, Equatable {
    package var byteCount: Int
    package var hash: UInt64

    package init(byteCount: Int, hash: UInt64) {
      self.byteCount = byteCount
      self.hash = hash
    }
  }

  package init() {}
}

/// What a run had done at its last commit.
package struct RunProgress: Sendable, Equatable {
  package var ledger = Ledger()
  package var rejectsByReason: [Reject.Code: UInt64] = [:]
  /// Of all that was read before the position's restart, and of the columns that were added.
  package var warnings = WarningLog()
  package var supersededCount: UInt64 = 0
  package var hasMetTombstone = false
  /// Why nothing was swept, and what helps; nil where nothing spoke against it.
  package var guardRefusal: GuardRefusal?
  /// What was done with rows that were edited here.
  package var localEdits = LocalEditCounts()
  /// Seconds that the parts of the run have taken.
  package var seconds = 0.0

  package struct GuardRefusal: Sendable, Equatable {
    package var said: Wording
    package var remedy: Wording?

    package init(_ said: Wording, remedy: Wording?) {
      self.said = said
      self.remedy = remedy
    }

    package init(_ error: UpsurgeError) { self.init(error.said, remedy: error.remedy) }

    package var error: UpsurgeError { UpsurgeError(.guardRefused, said, hint: remedy) }
  }

  package init() {}
}
