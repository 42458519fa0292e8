import ArgumentParser
import Upsurge

/// The options that say what may happen to the table, and to what hangs on it.
struct SchemaOptions: ParsableArguments {
  @Option(help: "auto makes a table that is not there; never refuses.")
  var create: CreatePolicy?

  @Flag(name: .customLong("strict"), help: "Make the new table STRICT.")
  var isStrict = false

  @Option(
    name: .customLong("not-null"), parsing: .singleValue,
    help: "COL: NOT NULL in a new table. May be given again.")
  var notNullColumns: [String] = []

  @Option(
    name: .customLong("default"), parsing: .singleValue,
    help: "COL=VALUE: what records that lack the column get, in a new table. May be given again.")
  var defaults: [String] = []

  @Flag(name: .customLong("alter"), help: "Add columns that the table lacks: --contract evolve.")
  var addsColumns = false

  @Option(
    help: """
      Columns that the table lacks: freeze (default) stops, evolve adds them, quarantine keeps the record until \
      `upsurge replay` finds a place for it.
      """)
  var contract: SchemaContract?

  @Option(
    name: .customLong("index"), parsing: .singleValue,
    help: "A,B: an index that the table is to have; made where it is missing. May be given again.")
  var indexes: [String] = []

  @Option(name: .customLong("indexes"), help: "Secondary indexes: keep, defer (build at the end) or auto.")
  var indexUpkeep: Upkeep = .auto

  @Option(
    name: .customLong("fts"), help: "FTS5 tables of the table's content: keep, defer (rebuild) or auto.")
  var fullTextUpkeep: Upkeep = .auto

  @Option(help: "run, or guarded: upsurge_is_synchronizing() is 1, for WHEN clauses.")
  var triggers: TriggerPolicy = .run

  @Option(help: "auto (as the schema says), on (at once) or deferred (at the commit).")
  var foreignKeys: ForeignKeyPolicy = .auto

  @Option(help: "JSON text for BLOB columns: base64, hex, or file (a path).")
  var blob: BlobEncoding?

  @Option(help: "The folder that files of --blob file must be in; not given: that of the input file.")
  var blobFolder: String?

  @Option(
    name: .customLong("init"),
    help: ArgumentHelp(
      "A file of SQL for the connection before anything else: TEMP triggers, TEMP views, settings.",
      valueName: "file"))
  var initPath: String?

  /// - Throws: `ValidationError` that names the option.
  func apply(to options: inout LoadOptions) throws {
    if addsColumns, let contract, contract != .evolve {
      throw ValidationError("--alter and --contract \(contract.rawValue) contradict each other")
    }
    options.contract = addsColumns ? .evolve : contract ?? .freeze
    options.createsTable = create.map { $0 == .auto } ?? (options.contract != .quarantine)
    options.isStrict = isStrict
    options.notNullColumns = GatheredWords.split(notNullColumns)
    for text in GatheredWords.split(defaults) {
      guard let cut = text.firstIndex(of: "="), cut != text.startIndex else {
        throw ValidationError("--default \(text): give COL=VALUE, for example score=0")
      }
      options.defaults[String(text[..<cut])] = String(text[text.index(after: cut)...])
    }
    options.indexes = try GatheredWords.split(indexes).map { try NameList.parse($0, option: "--index") }
    options.indexUpkeep = indexUpkeep
    options.fullTextUpkeep = fullTextUpkeep
    options.triggers = triggers
    options.foreignKeys = foreignKeys
    options.blobEncoding = blob
    if blobFolder != nil && blob != .file { throw ValidationError("--blob-folder is for --blob file") }
    options.blobFolder = blobFolder
    options.initPath = initPath
  }
}

/// Whether a missing table is made.
enum CreatePolicy: String, CaseIterable, ExpressibleByArgument {
  case auto, never
}
