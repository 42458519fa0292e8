import ArgumentParser
import Upsurge

/// The options that say what may happen to the table, and to what hangs on it.
struct SchemaOptions: ParsableArguments {
  @Option(.create) var create: CreatePolicy?

  @Flag(.strict) var isStrict = false

  @Option(.notNull) var notNullColumns: [String] = []

  @Option(.default) var defaults: [String] = []

  @Flag(.alter) var addsColumns = false

  @Option(.contract) var contract: SchemaContract?

  @Option(.index) var indexes: [String] = []

  @Option(.indexes) var indexUpkeep: Upkeep = .auto

  @Option(.fts) var fullTextUpkeep: Upkeep = .auto

  @Option(.triggers) var triggers: TriggerPolicy = .run

  @Option(.foreignKeys) var foreignKeys: ForeignKeyPolicy = .auto

  @Option(.blob) var blob: BlobEncoding?

  @Option(.blobFolder) var blobFolder: String?

  @Option(.initScript) var initPath: String?

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
