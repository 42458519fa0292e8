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
  public var duplicateKeys: JSONDialect.DuplicateKeys = .lastWins

  /// The fields to load, by their names in the input; empty means all.
  public var columns: [String] = []
  /// New names of fields: from the name in the input to the column's name.
  public var renames: [String: String] = [:]
  /// Declared types of columns in a table that this run creates.
  public var types: [String: String] = [:]
  public var inference: Inference = .sample
  public var createsTable = true
  /// Whether a table that this run creates is STRICT.
  public var isStrict = false
  /// Whether columns that an existing table lacks are added.
  public var addsColumns = false

  /// The columns that say which row a record is about; empty means the primary key, if the input has it.
  public var key: [String] = []
  /// `nil` is `upsert` with a key and `insert` without.
  public var mode: LoadMode?

  public var onError: ErrorPolicy = .stop
  /// Where rejects are written as NDJSON.
  public var rejectsPath: String?
  /// More rejects than this end the run.
  public var rejectLimit: RejectLimit?

  public var durability: Durability = .normal
  /// Rows in a transaction.
  public var commitEvery = 100_000
  /// The log grows no further than this unless a reader pins it.
  public var walLimit = ByteSize.mebibytes(256)
  /// How long to wait for a lock, in milliseconds.
  public var busyTimeout: Int32 = 5_000
  /// Bounds all that is allocated after start-up: batches, page cache.
  public var memory = ByteSize.mebibytes(64)
  /// Sizes of a batch; for tests, the result does not depend on them.
  package var batchSizes = Batch.Sizes.standard

  public init() {}

  /// How the types of a new table's columns are found.
  public enum Inference: String, Sendable, CaseIterable {
    /// From the first MiB of the input.
    case sample
    /// From all of it, which is read twice.
    case full
    /// Every column is TEXT.
    case none
  }

  /// How many rejects are borne.
  public enum RejectLimit: Sendable, Equatable {
    /// At most so many records.
    case count(UInt64)
    /// At most so many of a hundred records read; judged at the end.
    case percent(Double)

    /// `100` or `2.5%`.
    public init?(text: String) {
      if text.hasSuffix("%") {
        guard let share = Double(text.dropLast()), (0...100).contains(share) else { return nil }
        self = .percent(share)
      } else {
        guard let count = UInt64(text) else { return nil }
        self = .count(count)
      }
    }
  }

  /// - Throws: `usage` where two options contradict each other.
  package func validate() throws(UpsurgeError) {
    if memory.byteCount < 16 << 20 {
      throw UpsurgeError(
        .usage, "--memory \(memory) is too small", hint: "give at least --memory 16MiB")
    }
    if commitEvery < 1 {
      throw UpsurgeError(.usage, "--commit-every needs at least one row")
    }
    if walLimit.byteCount < 4 << 20 {
      throw UpsurgeError(
        .usage, "--wal-limit \(walLimit) is too small", hint: "give at least --wal-limit 4MiB")
    }
  }
}

/// What records are made of.
public enum RecordFormat: String, Sendable, CaseIterable {
  case csv, tsv, ndjson, json
}
