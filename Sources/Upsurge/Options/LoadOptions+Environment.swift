import UpsurgeInput

extension LoadOptions {
  /// What the program that runs a load brings along.
  package struct Environment: Sendable {
    /// Databases of which more is read than this load reads.
    package var databaseSnapshots: DatabaseSnapshots?
    /// What the program itself is the source of, by name.
    var ownSources: [String: OwnSource] = [:]
    /// Makes records of the sources' bytes; nil where they are CSV or JSON.
    var parser: (any FormatParser)?
    /// What http and https sources are asked with, and what of any source may not be shown.
    package var question = HTTPQuestion()
    /// What reads archives; nil where each is read by itself.
    package var archives: OpenArchives?
    /// Columns with a format that not all files of a run have.
    package var columnsElsewhere = ColumnsElsewhere()
    /// What the disk has left for sources that are read ahead; for tests, nil asks the system.
    package var spoolRoom: (@Sendable () -> Int?)?
    /// The SQLite VFS that the database is opened with; for tests, nil is the system's own.
    package var vfsName: String?

    package init() {}
  }

  /// Sizes and bounds on which the result does not depend.
  package struct Tuning: Sendable {
    /// Sizes of a batch.
    package var batchSizes = Batch.Sizes.standard
    /// When records are worth sorting.
    package var sorting = SortingSettings()
    /// Rows in a statement at most; nil is the writer's choice.
    package var rowsPerStatement: Int?
    /// Whether rows of a server may be compared here; else only the server compares them.
    package var walks = true
    package var directLimits = DirectLimits()
    /// Whether a new table has its key before its rows, where a store would make it after them.
    package var makesKeyFirst = false
    package var chunkSizes = SnapshotChunk.Sizes()
    /// Whether values are looked at for dates and numbers in a form of their own, while types are looked for.
    package var surveysValues = false
    /// Seconds before each attempt to connect again to a server; nil is the store's choice.
    package var connectSeconds: [Double]?
    /// Whether the connection to the server has broken before, so that one which is away is waited for.
    package var awaitsServer = false

    package init() {}
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
}
