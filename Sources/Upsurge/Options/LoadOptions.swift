import UpsurgeInput

/// Everything that can be said about a load; the defaults are those of `upsurge load`.
public struct LoadOptions: Sendable {
  /// What the input is made of; `nil` is found from its content.
  public var format: RecordFormat?
  public var compression: Compression = .auto
  public var encoding: TextEncoding = .auto
  /// Parts of the CSV dialect that are given; the rest is sniffed.
  public var csv = CSVOverrides()
  /// Joins the keys of nested JSON objects into column names; `nil` keeps them as JSON text.
  public var flattenSeparator: String?
  /// Where in a JSON document the array of records is.
  public var jsonPath: [String] = []
  /// The column for the keys of an object each of whose values is a record; nil where an array holds the records.
  public var jsonMap: String?
  /// What `NaN`, `Infinity` and `-Infinity` are in JSON.
  public var jsonNaN = JSONDialect.NonFinite.reject
  /// Whether an object that seems only to wrap an array of records is a record all the same.
  public var takesWrapper = false
  public var duplicateKeys: JSONDialect.DuplicateKeys = .lastWins

  /// The fields to load, by their names in the input; empty means all.
  public var columns: [String] = []
  /// New names of fields: from the name in the input to the column's name.
  public var renames: [String: String] = [:]
  /// Declared types of columns in a table that this run creates.
  public var types: [String: String] = [:]
  /// Columns of a table that this run creates that are NOT NULL, beside those of the key.
  public var notNullColumns: [String] = []
  /// What records that lack a column get, in a table that this run creates.
  public var defaults: [String: String] = [:]
  /// At most so many records are read, rejected ones included.
  public var recordLimit: UInt64?
  public var inference: Inference = .sample
  public var createsTable = true
  /// Whether a table that this run creates is STRICT.
  public var isStrict = false
  /// What becomes of records with columns that an existing table lacks.
  public var contract = SchemaContract.freeze
  /// How text becomes a BLOB in columns declared BLOB; `nil` stores the text.
  public var blobEncoding: BlobEncoding?
  /// Where the files that records name must be; `nil` is the folder of the input file.
  public var blobFolder: String?

  /// Which row a record is about, and how that row changes.
  public var rules = UpsertRules()
  /// Whether the UNIQUE index that the key needs is made where it is missing.
  public var createsKey = false
  /// Secondary indexes that the table is to have, by their columns; made where they are missing.
  public var indexes: [[String]] = []

  public var indexUpkeep = Upkeep.auto
  public var fullTextUpkeep = Upkeep.auto
  public var triggers = TriggerPolicy.run
  public var foreignKeys = ForeignKeyPolicy.auto
  /// A file of SQL that is run on the engine's connection before the table is looked at: TEMP triggers and views,
  /// ATTACH, settings. It may not change the database itself.
  public var initPath: String?
  /// SQL for the engine's connection as text; run after the file.
  public var initSQL: String?

  /// Whether the plan is only printed.
  public var isExplained = false
  public var dryRun: DryRun?
  /// Where each row that is inserted, updated or deleted is written as NDJSON.
  public var changesPath: String?
  /// Where the statements are written as plain SQL.
  public var emitPath: String?
  /// Bounds a statement in `emitPath`.
  public var maxStatement = ByteSize.kibibytes(100)

  public var onError: ErrorPolicy = .stop
  /// Where rejected records are kept; `nil` only counts them.
  public var rejects: RejectsTarget?
  /// Where the caller will write the summary; only checked against the files that the run uses.
  package var summaryPath: String?
  /// More rejects than this end the run.
  public var rejectLimit: RowLimit?

  /// What the input says of rows that it does not have; nil where it says nothing.
  package var snapshot: SnapshotRules?
  /// What is known of the feed that this is a delivery of; nil where it is of none.
  package var feed: FeedRules?
  /// What is noted of each row that is delivered; nil where nothing is.
  package var rowState: RowStateRules?
  /// What the run has to do with the chunks of deliveries.
  package var chunks = ChunkUse.none
  /// For tests, the result does not depend on it.
  package var chunkSizes = SnapshotChunk.Sizes()
  /// Whether a text that does not end with a line end is taken for cut.
  package var needsLineEnd = false
  /// What the last line of each text says, which is no record; nil where there is no such line.
  package var trailer: TrailerPattern?
  /// Whether the job comes again and again, and so says once and for all what a new table is to be.
  package var isRepeated = false
  /// Whether records whose parents are not there wait for them in the quarantine.
  package var quarantinesOrphans = false
  /// Databases of which more is read than this load reads.
  package var databaseSnapshots: DatabaseSnapshots?
  /// What the program itself is the source of, by name.
  var ownSources: [String: OwnSource] = [:]
  /// Makes records of the sources' bytes; nil where they are CSV or JSON.
  var parser: (any FormatParser)?
  /// What http and https sources are asked with, and what of any source may not be shown.
  package var question = HTTPQuestion()

  /// What becomes of an earlier run of the same job that ended early.
  public var resume = ResumePolicy.auto
  /// Whether the run stays listed after it has ended.
  public var keepsHistory = false
  /// So many past runs of the table stay, the newest, where this one does; nil is all of them.
  package var keptRunCount: UInt64?
  /// Whether all of the run is one transaction.
  public var isAtomic = false
  /// A compressed source may become so many times larger, behind its first 64 MiB; nil is no bound.
  public var maximumRatio: Double? = 10_000

  public var durability: Durability = .normal
  /// How much a transaction holds.
  public var commitEvery: CommitInterval = .auto
  /// Whether records are stored in the order of the input also where that makes no difference to the result; else they
  /// may be sorted by their key, which is faster where keys arrive in no order.
  public var keepsInputOrder = false
  /// The log grows no further than this unless a reader pins it.
  public var walLimit = ByteSize.mebibytes(256)
  /// How long to wait for a lock, in milliseconds.
  public var busyTimeout: Int32 = 5_000
  /// Bounds all that is allocated after start-up: batches, page cache.
  public var memory = ByteSize.mebibytes(64)
  /// Sizes of a batch; for tests, the result does not depend on them.
  package var batchSizes = Batch.Sizes.standard
  /// When records are worth sorting; for tests, the result does not depend on it.
  package var sorting = SortingSettings()
  /// Rows in a statement at most; for benchmarks, the result does not depend on it.
  package var rowsPerStatement: Int?
  /// Whether the rows of a new table in a new database are packed into pages without SQLite, in a file beside the
  /// database that becomes the database in one step; the result does not depend on it.
  public var direct = DirectPolicy.auto
  package var directLimits = DirectLimits()
  /// What the disk has left for sources that are read ahead; for tests, nil asks the system.
  package var spoolRoom: (@Sendable () -> Int?)?
  /// The SQLite VFS that the database is opened with; for tests, nil is the system's own.
  package var vfsName: String?

  public init() {}

  /// Whether rows may be packed into pages.
  public enum DirectPolicy: String, Sendable, CaseIterable {
    /// Where the table and the options allow it and the input is large enough to gain by it.
    case auto
    /// Small inputs, too.
    case always
    /// All rows go through SQLite.
    case never
  }

  /// What ends packing, and when that was for nothing; for tests.
  package struct DirectLimits: Sendable {
    /// Fewer rows are not made the database before others follow through SQLite: they would be part of a transaction,
    /// which may be rolled back.
    package var leastRowCount = CommitInterval.automaticCount
    /// With less room on its disk the file grows no more: ending at a commit before the disk is full is the writer's
    /// work.
    package var leastFreeByteCount = 16 << 20
  }

  /// How the types of a new table's columns are found.
  public enum Inference: String, Sendable, CaseIterable {
    /// From the first MiB of the input.
    case sample
    /// From all of it, which is read twice.
    case full
    /// Every column is TEXT.
    case none
  }

  /// The columns that say which row a record is about; empty means the primary key, if the input has it.
  public var key: [String] {
    get { rules.target.columnNames }
    set { rules.target = newValue.isEmpty ? .primaryKey : .columns(newValue) }
  }

  /// `nil` is `upsert` with a key and `insert` without.
  public var mode: WriteMode? {
    get { rules.mode }
    set { rules.mode = newValue }
  }

  /// The largest record, in bytes: a quarter of the memory, and no more than SQLite can take.
  package var recordByteLimit: Int { min(memory.byteCount / 4, 1_000_000_000) }

  /// A quarter of the memory, and of what the log may hold: the cache of a transaction goes to the log in the end.
  package var pageCacheByteCount: Int { min(memory.byteCount, walLimit.byteCount) / 4 }

  /// What records may take that wait to be sorted by their key: what the cache and the batches leave. Batches with large
  /// records share it.
  package var sortByteCount: Int {
    let rest = memory.byteCount - pageCacheByteCount - (16 << 20)
    return min(max(rest, memory.byteCount / 4), 2 << 30)
  }

  /// What batches with large records may take, all together: such a record as it stands and as it is stored.
  package var largeBatchByteLimit: Int { memory.byteCount / 2 }

  /// What may be kept in memory of which rows a snapshot's records were about, for all tables of a transaction together.
  package var seenByteLimit: Int { min(memory.byteCount / 8, 8 << 20) }

  /// - Throws: `usage` where two options contradict each other.
  package func validate() throws(UpsurgeError) {
    try validateMap()
    try validatePreview()
    try validateRules()
    try validateResume()
    if memory.byteCount < 16 << 20 {
      throw UpsurgeError(
        .usage, "\(.memory, memory) is too small", hint: "give at least \(.memory, "16MiB")")
    }
    if rejectLimit != nil && onError == .stop {
      throw UpsurgeError(
        .usage, "\(.maxRejects) says how many rejects are borne, and \(.onError, "stop") bears none",
        hint: "add \(.onError, "reject")")
    }
    try validateTypes()
    if !commitEvery.isPositive {
      throw UpsurgeError(
        .usage, "\(.commitEvery, commitEvery) is too small", hint: "give at least 1, 1B or 1ms")
    }
    if walLimit.byteCount < 4 << 20 {
      throw UpsurgeError(
        .usage, "\(.walLimit, walLimit) is too small", hint: "give at least \(.walLimit, "4MiB")")
    }
  }

  private func validateMap() throws(UpsurgeError) {
    guard let jsonMap else { return }
    if jsonMap.isEmpty || jsonMap.utf8.contains(0) {
      throw UpsurgeError(.usage, "\(.jsonMap) takes the name of a column", hint: "\(.jsonMap, "id")")
    }
    if let format, format != .json {
      throw UpsurgeError(
        .usage, "\(.jsonMap) is for a JSON document, and \(.format) is \(format.rawValue)",
        hint: "leave out \(.format), or give \(.format, "json")")
    }
  }

  /// Where no record of the run is kept, nothing can go on and nothing stays listed.
  private func validateResume() throws(UpsurgeError) {
    let reason: Wording? =
      dryRun != nil
      ? "\(.dryRun) leaves nothing behind" : durability == .off ? "\(.durability, "off") keeps no record" : nil
    guard let reason else { return }
    if resume == .require {
      throw UpsurgeError(
        .usage, "\(.resume, "require") goes on with an earlier run, and \(saying: reason)", hint: "leave out one of them")
    }
    if keepsHistory {
      throw UpsurgeError(
        .usage, "\(.history) keeps the run listed, and \(saying: reason)", hint: "leave out \(.history)")
    }
  }

  private func validatePreview() throws(UpsurgeError) {
    if emitPath != nil && maxStatement.byteCount < 256 {
      throw UpsurgeError(
        .usage, "\(.maxStatement, maxStatement) is too small", hint: "give at least \(.maxStatement, "256")")
    }
  }

  /// A type is words and at most two sizes, so that nothing else gets into the CREATE TABLE.
  private func validateTypes() throws(UpsurgeError) {
    let constraints: Set = [
      "PRIMARY", "KEY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE",
      "REFERENCES", "GENERATED", "ALWAYS", "AS", "CONSTRAINT",
    ]
    let strictTypes: Set = ["INT", "INTEGER", "REAL", "TEXT", "BLOB", "ANY"]
    for (column, type) in types {
      let words = type.split(separator: "(", maxSplits: 1)
      let name = words.first.map(String.init) ?? ""
      let isName = !name.isEmpty && name.allSatisfy { $0 == " " || $0 == "_" || $0.isASCII && $0.isLetter }
      let isSize =
        words.count < 2
        || words[1].hasSuffix(")") && words[1].dropLast().allSatisfy { ", 0123456789".contains($0) }
      let isConstraint = name.split(separator: " ").contains { constraints.contains(String($0)) }
      if !isName || !isSize || isConstraint {
        throw UpsurgeError(
          .usage, "\(.type, "\(column):\(type)") is no type", hint: "give one such as INTEGER, REAL, TEXT or BLOB")
      }
      if isStrict && !strictTypes.contains(type) {
        throw UpsurgeError(
          .usage, "\(.type, "\(column):\(type)") is not for a STRICT table",
          hint: "STRICT tables know INT, INTEGER, REAL, TEXT, BLOB and ANY")
      }
    }
  }
}

/// What records are made of.
public enum RecordFormat: String, Sendable, CaseIterable {
  case csv, tsv, ndjson, json
}
