import Testing

/// The folders of a module need one another in one direction.
@Suite struct FolderArrowsTests {
  /// The folders of each module, the lowest first: a file needs nothing of a folder after its own.
  static let order: [String: [String]] = [
    "UpsurgeParsing": [".", "Numbers", "Blob", "Values", "JSON", "CSV", "Inference"],
    "UpsurgeInput": ["System", "Names", "Feeds", "Codecs", "Archives", "."],
    "UpsurgeSQLite": ["SQL", "Connection", "Schema"],
    "UpsurgePlan": ["Rules", "Plan"],
    "UpsurgeState": ["RowState", "Quarantine", "Runs", "Rejects", "Keys", "Indexes", "Chunks"],
    "UpsurgeStorage": ["Sorting", "Sweep", "Walk", "Writer", "Orphans", "Upkeep", "Direct", "Emit"],
    "Upsurge": [
      ".", "Produced", "Options", "Output", "Batches", "Sources", "Summary", "Table", "Rejects", "Runs",
      "Preview", "Feed", "Store",
      "SQLite", "Pipeline", "Explain", "Inspect", "Import", "Replay", "Keys",
    ],
    "UpsurgePostgres": [
      "Wire", "Server", "Schema", "Binary", "Staging", "Ordered", "Paths", "Runs", "Notes", "Sweep", "Store",
      "Source", "Inspect",
    ],
    "UpsurgeMove": ["Shape", "Databases", "Plan", "Run"],
    "UpsurgeBench": ["."],
    "UpsurgePostgresBench": ["."],
    "UpsurgeModels": [
      "Rows", "Columns", "Coding", "Tables", "Database", "Queries", "Search", "Functions", ".",
    ],
    "UpsurgeMirror": ["Job", "Feeds", "Check", "Run", "Status", "Forget", "Runner"],
    "UpsurgeCommand": [
      "Words", "Catalogue", "Terminal", "Options", "JobFile", "Schedule", "Help", "Commands",
    ],
  ]

  @Test("No file needs a folder above its own", arguments: order.keys.sorted())
  func direction(module: String) throws {
    let order = try #require(Self.order[module])
    let found = try FolderArrows(of: module)
    #expect(found.folders == Set(order))
    let arrows = found.arrows(against: order)
    #expect(arrows.isEmpty, "\(arrows.map(\.description).joined(separator: "\n"))")
  }
}
