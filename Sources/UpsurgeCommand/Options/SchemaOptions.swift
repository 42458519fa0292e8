import ArgumentParser
import Upsurge

/// The options that say what may happen to the table, and to its indexes, triggers and foreign keys.
struct SchemaOptions: ParsableArguments {
  @Option(.create) var create: CreatePolicy?

  @Flag(.strict) var isStrict = false

  @Option(.notNull) var notNullColumns: [String] = []

  @Option(.default) var defaults: [String] = []

  @Flag(.alter) var addsColumns = false

  @Option(.contract) var contract: SchemaContract?

  @Option(.index) var indexes: [String] = []

  @Option(.indexes) var indexUpkeep = IndexRules().upkeep

  @Option(.fts) var fullTextUpkeep = IndexRules().fullTextUpkeep

  @Option(.triggers) var triggers = LoadOptions.Table().triggers

  @Option(.foreignKeys) var foreignKeys = LoadOptions.Table().foreignKeys

  @Option(.blob) var blob: BlobEncoding?

  @Option(.blobFolder) var blobFolder: String?

  @Option(.initScript) var initPath: String?

  @Option(.stateSchema) var stateSchema: String?

  /// - Throws: `ValidationError` that names the option.
  func apply(to options: inout LoadOptions) throws {
    if addsColumns, let contract, contract != .evolve {
      throw ValidationError("--alter and --contract \(contract.rawValue) contradict each other")
    }
    options.table.contract = addsColumns ? .evolve : contract ?? .freeze
    options.table.freezesNewTables = contract == .freeze
    options.table.createsTable = create.map { $0 == .auto } ?? (options.table.contract != .quarantine)
    options.table.isStrict = isStrict
    options.table.notNullColumns = GatheredWords.split(notNullColumns)
    for text in GatheredWords.split(defaults) {
      guard let cut = text.firstIndex(of: "="), cut != text.startIndex else {
        throw ValidationError("--default \(text): give COL=VALUE, for example score=0")
      }
      let value = String(text[text.index(after: cut)...])
      try ValueOptions.put(value, String(text[..<cut]), in: &options.table.defaults, option: "--default")
    }
    options.indexes.wanted = try GatheredWords.split(indexes).map {
      try NameList.parse($0, option: "--index")
    }
    options.indexes.upkeep = indexUpkeep
    options.indexes.fullTextUpkeep = fullTextUpkeep
    options.table.triggers = triggers
    options.table.foreignKeys = foreignKeys
    options.table.blobEncoding = blob
    if blobFolder != nil && blob != .file { throw ValidationError("--blob-folder is for --blob file") }
    options.table.blobFolder = blobFolder
    options.table.initPath = initPath
    options.table.stateSchema = stateSchema
  }
}
