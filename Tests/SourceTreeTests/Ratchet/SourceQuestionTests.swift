import Testing

/// What a source is, is decided where `Source` is: nobody else looks at how its text begins.
@Suite struct SourceQuestionTests {
  private static let home = "Sources/UpsurgeInput/Names/"

  /// How a text would be asked for the kind of source that it is.
  private static let questions = [
    "http", "exec:", "sqlite:", "program:", "/dev/stdin", "/dev/fd/0", "/proc/self/fd",
  ].flatMap {
    ["hasPrefix(\"\($0)", "starts(with: \"\($0)", "== \"\($0)", "firstRange(of: \"\($0)"]
  }

  /// Questions that are left; whoever makes them fewer writes it here.
  private static let questionCount = 0

  /// Files that ask a source for what it is opened by, which holds its secrets: they open it, compare it or hash it, and check
  /// it before it is opened.
  private static let openers: Set = [
    "Sources/Upsurge/Options/DatabaseSnapshots.swift", "Sources/Upsurge/Pipeline/FeedsAhead.swift",
    "Sources/Upsurge/Sources/OwnSource+File.swift", "Sources/UpsurgeCommand/JobFile/JobPaths.swift",
    "Sources/UpsurgeInput/FileSource.swift", "Sources/UpsurgeMirror/Feeds/FeedRecord.swift",
  ]

  /// The engine's files outside of the type's own folder, each with its text.
  private static func files() throws -> [(path: String, text: String)] {
    let root = SourceTree.root.path + "/"
    let modules = [
      "Upsurge", "UpsurgeBench", "UpsurgeBulk", "UpsurgeCommand", "UpsurgeInput", "UpsurgeMirror", "UpsurgePlan", "UpsurgePostgres",
      "UpsurgePostgresBench", "UpsurgeRecords", "UpsurgeSQLite", "UpsurgeState", "UpsurgeStorage",
    ]
    return try modules.flatMap { try SourceTree.files(of: $0) }.compactMap { file in
      let path = String(file.path.dropFirst(root.count))
      return path.hasPrefix(home) ? nil : (path, String(decoding: try SourceTree.bytes(file), as: UTF8.self))
    }
  }

  @Test("Nobody asks a text whether it is a URL, a command or a database")
  func questions() throws {
    var found: [String] = []
    for (path, text) in try Self.files() {
      for line in text.split(separator: "\n") where Self.questions.contains(where: { line.contains($0) }) {
        found.append("\(path): \(line)")
      }
    }
    #expect(found.count == Self.questionCount, "\(found.joined(separator: "\n"))")
  }

  @Test("What a source is opened by is asked for where it is opened, and nowhere else")
  func openers() throws {
    let found = try Self.files().filter { $0.text.contains(".opening") }
    #expect(Set(found.map(\.path)) == Self.openers)
  }
}
