/// One way to store the rows.
struct BenchContender: Sendable {
  enum Way: Sendable {
    /// The engine, from the file.
    case upsurge
    /// By hand over a connection of ours, from memory.
    case plain(PlainWriter.Pattern, isUpsert: Bool)
    case peer(BenchPeer)
  }

  let way: Way
  let kind: BenchReport.Kind
  let name: String
  /// What it does, in a sentence.
  let detail: String

  /// Rows of the multi-row statements: where the curve is flat (the engine's own), and what programs write.
  static let floorRowCount = 64
  static let patternRowCount = 500

  /// All that take part, the engine last.
  static func all(of job: BenchJob) -> [BenchContender] {
    let source = job.file == nil ? "the CSV file" : "the file"
    let memory = "rows lie typed in memory"
    var list: [BenchContender] = []
    if job.suite == .new && !job.key.isEmpty {
      list += [
        BenchContender(
          way: .plain(.cachedStatement, isUpsert: false), kind: .floor,
          name: "floor: INSERT, one row a statement",
          detail: "one cached INSERT, bound and stepped for each row; \(memory)"),
        BenchContender(
          way: .plain(.manyRows(floorRowCount), isUpsert: false), kind: .floor,
          name: "floor: INSERT, \(floorRowCount) rows a statement",
          detail: "one cached INSERT of \(floorRowCount) rows; \(memory)"),
      ]
    }
    let verb = job.key.isEmpty ? "INSERT" : "upsert"
    let isUpsert = !job.key.isEmpty
    list += [
      BenchContender(
        way: .plain(.freshStatement, isUpsert: isUpsert), kind: .pattern,
        name: "\(verb), a new statement for each row",
        detail: "each row compiles, runs and frees a statement; \(memory)"),
      BenchContender(
        way: .plain(.cachedStatement, isUpsert: isUpsert), kind: .pattern,
        name: "\(verb), one cached statement",
        detail: "one statement, compiled once, for each row; \(memory)"),
      BenchContender(
        way: .plain(.manyRows(patternRowCount), isUpsert: isUpsert), kind: .pattern,
        name: "\(verb), multi-row VALUES",
        detail: "one statement of \(patternRowCount) rows, or what SQLite's variables allow; \(memory)"),
    ]
    list += job.peers.map {
      BenchContender(
        way: .peer($0), kind: .peer, name: $0.rawValue, detail: "a process of its own, from \(source)")
    }
    list.append(
      BenchContender(
        way: .upsurge, kind: .upsurge, name: "upsurge load",
        detail: "in this process, from \(source): reading and parsing count"
          + (job.suite == .new ? "; pages are packed without SQLite where the table allows it" : "")))
    return list
  }
}
