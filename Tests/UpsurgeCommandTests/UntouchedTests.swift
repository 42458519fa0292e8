import Foundation
import TestSupport
import Testing

/// A run that ends with 4, 64 or 65 and has committed nothing leaves the database and its log byte for byte as they were.
@Suite("Refused means untouched", .serialized)
struct UntouchedTests {
  /// In what state the database is found.
  enum Found: CaseIterable {
    case rollbackJournal, wal
    /// A log that the last program did not bring into the database.
    case log
    case emptyFile
  }

  /// A command that comes to nothing, and how it ends.
  struct Refusal: CustomTestStringConvertible {
    var arguments: [String]
    var code: Int32
    var says: String
    /// Whether it is none where the table does not exist.
    var needsTable = true

    var testDescription: String { arguments.joined(separator: " ") }

    init(_ arguments: String, _ code: Int32, _ says: String, needsTable: Bool = true) {
      self.arguments = arguments.split(separator: " ").map(String.init)
      self.code = code
      self.says = says
      self.needsTable = needsTable
    }
  }

  static let refusals = [
    Refusal("load d.db t wide.csv", 4, "no column: mass"),
    Refusal("load d.db t bad.csv", 65, "expected 2 fields, found 1", needsTable: false),
    Refusal("load d.db t bad.csv --durability full --atomic", 65, "expected 2 fields", needsTable: false),
    // Larger than the page cache: pages are written before they are taken back.
    Refusal("load d.db t late.csv --memory 16MiB --atomic", 65, "expected 2 fields", needsTable: false),
    Refusal(
      "load d.db t late.csv --memory 16MiB --indexes defer", 65, "expected 2 fields", needsTable: false),
    Refusal("load d.db new late.csv --commit-every 1000000", 65, "expected 2 fields", needsTable: false),
    Refusal("load d.db t good.csv --key nothing", 64, "nothing"),
    Refusal("load d.db t good.csv --resume require", 4, "--resume require", needsTable: false),
    Refusal("load d.db new good.csv --create never", 4, "--create never", needsTable: false),
    Refusal("load d.db t good.csv --durability off", 64, "--durability off"),
    Refusal("load d.db t bad.csv --on-error reject --max-rejects 0", 65, "reject", needsTable: false),
    Refusal("load d.db t bad.csv --on-error reject --rejects table --max-rejects 1%", 65, "reject"),
    Refusal("load d.db t wide.csv --alter --key mass", 64, "mass"),
    Refusal("load d.db t bad.csv --dry-run", 65, "expected 2 fields", needsTable: false),
    Refusal("replay d.db bad.csv", 65, "bad.csv", needsTable: false),
  ]

  static let cases = Found.allCases.flatMap { found in
    refusals.filter { found != .emptyFile || !$0.needsTable }.map { (found, $0) }
  }

  let scratch = Scratch()

  private func prepare(_ found: Found) throws {
    _ = scratch.write("id,tree,mass\n3,cedar,5\n", to: "wide.csv")
    _ = scratch.write("id,tree\n3,cedar\n", to: "good.csv")
    _ = scratch.write("id,tree\n3,cedar\n4\n", to: "bad.csv")
    let word = String(repeating: "w", count: 400)
    let late = (10..<20_010).map { "\($0),\(word)\n" }.joined()
    _ = scratch.write("id,tree\n\(late)30000\n", to: "late.csv")
    if found == .emptyFile {
      _ = scratch.write([UInt8](), to: "d.db")
      return
    }
    let database = Database(scratch.file("d.db"))
    if found != .rollbackJournal { try database.rows("PRAGMA journal_mode=WAL") }
    try database.rows(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, tree TEXT); CREATE INDEX by_tree ON t(tree);
      INSERT INTO t VALUES (1, 'alder'), (2, 'birch')
      """)
    if found == .log { try keepLog() }
  }

  /// Leaves database and log as a program that was killed does.
  private func keepLog() throws {
    for name in ["d.db", "d.db-wal"] {
      try FileManager.default.copyItem(atPath: scratch.file(name), toPath: scratch.file("killed-" + name))
    }
  }

  private func putLogBack() throws {
    for name in ["d.db", "d.db-wal"] {
      try? FileManager.default.removeItem(atPath: scratch.file(name))
      try FileManager.default.moveItem(atPath: scratch.file("killed-" + name), toPath: scratch.file(name))
    }
  }

  private var bytes: [Data?] {
    ["d.db", "d.db-wal", "d.db-journal"].map { try? Data(contentsOf: URL(fileURLWithPath: scratch.file($0))) }
  }

  private func run(_ arguments: [String]) throws -> Command.Outcome {
    try Command.run(arguments, script: "cd '\(scratch.path)' && exec \"$0\" \"$@\"")
  }

  @Test("Nothing is left of a run that was refused", arguments: cases)
  func refused(_ found: Found, _ refusal: Refusal) throws {
    try prepare(found)
    if found == .log { try putLogBack() }
    let before = bytes
    if found == .log { #expect(before[1]?.isEmpty == false) }
    let outcome = try run(refusal.arguments)
    #expect(outcome.exitCode == refusal.code, "\(outcome.talk)")
    #expect(outcome.talk.contains(refusal.says), "\(outcome.talk)")
    #expect(!outcome.talk.contains("now in WAL mode"))
    #expect(bytes == before)
  }

  @Test("Records that change nothing leave the journal mode, and one that does switches it and says so")
  func changed() throws {
    try prepare(.rollbackJournal)
    _ = scratch.write("id,tree\n1,alder\n2,birch\n", to: "same.csv")
    let before = bytes
    let same = try run(["load", "d.db", "t", "same.csv"])
    #expect(same.exitCode == 0)
    #expect(!same.talk.contains("WAL mode"))
    #expect(bytes == before)
    let more = try run(["load", "d.db", "t", "good.csv"])
    #expect(more.exitCode == 0)
    #expect(more.talk.contains("d.db is now in WAL mode"))
    #expect(
      try Database(scratch.file("d.db")).rows("PRAGMA journal_mode; SELECT count(*) FROM t") == [
        "'wal'", "3",
      ])
  }

  @Test("What was committed before the stop stays, and so does WAL mode")
  func stopped() throws {
    try prepare(.rollbackJournal)
    let outcome = try run(["load", "d.db", "t", "late.csv", "--commit-every", "5000"])
    #expect(outcome.exitCode == 3)
    #expect(outcome.talk.contains("d.db is now in WAL mode"))
    #expect(
      try Database(scratch.file("d.db")).rows("PRAGMA journal_mode; SELECT count(*) FROM t") == [
        "'wal'", "20002",
      ])
  }

  @Test("A database that another program has open stays in WAL mode, with nothing lost")
  func watched() throws {
    try prepare(.rollbackJournal)
    let pipe = scratch.file("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let child = try Command.start([
      "load", scratch.file("d.db"), "t", pipe, "--format", "csv", "--commit-every", "1000000",
    ])
    let descriptor = open(pipe, O_WRONLY | O_CLOEXEC)
    let late = try Data(contentsOf: URL(fileURLWithPath: scratch.file("late.csv")))
    late.withUnsafeBytes { whole in
      var rest = whole[...]
      while !rest.isEmpty {
        let count = write(
          descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, min(rest.count, 1 << 16))
        if count <= 0 { break }
        rest = rest.dropFirst(count)
      }
    }
    let other = Database(scratch.file("d.db"))
    #expect(try other.rows("SELECT count(*) FROM t") == ["2"])
    close(descriptor)
    let outcome = try child.finish()
    #expect(outcome.exitCode == 65, "\(outcome.talk)")
    try other.rows("INSERT INTO t VALUES (9, 'yew')")
    #expect(try other.rows("PRAGMA integrity_check; SELECT count(*) FROM t") == ["'ok'", "3"])
  }
}
