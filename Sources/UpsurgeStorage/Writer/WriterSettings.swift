import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeState

/// What happens at the first record that cannot be stored.
public enum ErrorPolicy: String, Sendable, CaseIterable {
  /// The run ends; what was not committed is rolled back.
  case stop
  /// The record is handed to the rejects, and the run goes on.
  case reject
}

/// Bounds and policies of a `TableWriter`.
package struct WriterSettings: Sendable {
  package var commitEvery = CommitBounds()
  /// Records that are stored in the order of their key.
  package var sorting = SortingSettings()
  /// Whether rows may be walked through beside the records.
  package var walksBesideRows = true
  package var log = LogSettings()
  package var statements = StatementSettings()
  /// Whether the run was told to end, which ends such waits; asked on the writer's thread.
  package var isCancelled: @Sendable () -> Bool = { false }
  /// Takes what a person should know while the run goes on; on the writer's thread.
  package var warn: @Sendable (Wording) -> Void = { _ in }
  /// What the disk of a file has free; nil when that is not known.
  package var freeByteCount: @Sendable (_ path: String) -> Int? = { DiskSpace.free(at: $0) }
  package var onError = ErrorPolicy.stop
  /// More rejects than this end the run as `stop` does.
  package var maximumRejects: UInt64?
  /// What a person can do then.
  package var maximumRejectsHint: Wording = "raise \(.maxRejects) to allow more"
  /// Whether foreign keys are looked at when the transaction ends, whatever the schema says.
  package var defersForeignKeys = false
  /// What the feed says of rows, where the records are a delivery of one.
  package var delivery = DeliveryRules()
  /// What distinguishes a snapshot's bytes from those of others, once all were read; nil where nobody knows. On the writer's thread.
  package var deliveryHash: @Sendable () -> UInt64? = { nil }
  /// What the rows that its records are about may take; nil where the writer is alone with the bound of its snapshot.
  package var seenMemory: SeenMemory?
  /// What is known of the delivery beside its records; nil where that is nothing.
  package var chunks: DeliveryChunks?
  /// Whether nothing is ever committed: `finish` rolls everything back and keeps the ledger.
  package var isDryRun = false
  /// Whether columns that appear on the way are added to the table.
  package var addsColumns = false
  /// Whether records with a value in a column that the table lacks are kept in the quarantine.
  package var quarantinesUnknown = false
  /// Whether references that are open when the transaction ends are the caller's to look at.
  package var leavesReferencesOpen = false
  /// Whether the records come from the quarantine, their numbers being their ids; those that are stored leave it.
  package var replaysQuarantine = false

  /// Whether everything is one transaction, because what was set aside comes back at its end: neither records nor
  /// the WAL's limit commit.
  package var commitsOnce = false

  package init() {}

  /// - Parameters:
  ///   - memory: what the run may allocate, in bytes.
  ///   - walLimit: what the WAL stays within where it can, in bytes.
  package init(memory: Int, walLimit: Int) {
    statements.memory.byteCount = memory
    log.limitByteCount = walLimit
    log.checkpointByteCount = min(log.checkpointByteCount, walLimit / 4)
  }

  /// The settings without bounds that do not count.
  var settled: WriterSettings {
    guard commitsOnce else { return self }
    var settings = self
    settings.commitEvery.records = .max
    return settings
  }
}

/// When a transaction ends, if nothing else ends it before.
package struct CommitBounds: Sendable {
  /// A commit after so many records; exact.
  package var records = 100_000
  /// A commit after so many bytes of input, to the next batch border.
  package var bytes: Int?
  /// A commit after so many seconds, to the next batch border.
  package var seconds: Double?
}

/// How large the write-ahead log may become, and when it is brought into the database.
package struct LogSettings: Sendable {
  /// The WAL stays within this where it can: transactions end early.
  package var limitByteCount = 256 << 20
  /// A checkpoint runs after a commit that leaves more than this in the WAL; at most a quarter of the limit.
  package var checkpointByteCount = 40 << 20
  /// Where that is at least so much, a thread of its own does most of it while the next records are stored; less is done
  /// sooner than a thread wakes.
  package var leastCheckpointBeside = 8 << 20
  /// Past the limit a commit waits at most so long for the reader that pins the log.
  package var longestPauseSeconds = 5.0
  /// Is given what ends a checkpoint while there is one, from any thread; nil when it is over.
  package var checkpointing: @Sendable (Interrupter?) -> Void = { _ in }
}

/// Which statements records are stored by.
package struct StatementSettings: Sendable {
  /// Upper bound of rows a statement, before SQLite's own limits.
  package var rowCount = 64
  /// Records of a shape that are stored by the statement for all shapes, where the table allows one, before the shape
  /// gets statements of its own.
  package var flaggedRecordsPerShape = 16
  /// So many shapes get their statements at once.
  package var readyShapeCount = 32
  /// What statements may take of the memory that the run is given, compiled and while they are compiled.
  package var memory = StatementMemory()
}

/// When records are gathered and stored in the order of their key.
package struct SortingSettings: Sendable {
  /// Memory that records may take which wait for that; 0 stores all of them as they come.
  package var byteCount = 0
  /// Records in a transaction at most; nil for as many as there are between two commits.
  package var recordLimit: Int?
  /// Fewer records are stored as they come.
  package var fewestRecords = 4096
  /// So are records for a database that is not larger with them; nil is what the page cache holds with ease.
  package var fewestBytes: Int?
  /// Whether records are sorted in whatever order they come; for tests.
  package var isForced = false
  /// Whether the table was made by the run, in a transaction that is still open.
  package var isTableNew = false
  /// Asks for the memory (true), or gives it back; the answer says whether it can be had.
  package var holdsMemory: @Sendable (Bool) -> Bool = { _ in true }

  package init() {}
}

/// Where the last commit stands in the input.
package struct CommittedPosition: Sendable, Equatable {
  package var sourceIndex: Int
  /// The last record whose outcome is committed.
  package var position: Position
  /// Offset after that record's last byte (its line end not included), where known.
  package var nextByte: UInt64?
}
