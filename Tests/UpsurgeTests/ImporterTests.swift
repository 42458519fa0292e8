import Foundation
import TestSupport
import Testing
import Upsurge

/// `upsurge load` from a program's task.
@Suite("Importer") struct ImporterTests {
  let scratch = Scratch()

  @Test("Files are imported as the command does, and progress, notes and the summary come as events")
  func files() async throws {
    let file = scratch.write("id,name\n1,a\n2,b\nx\"y,c\n", to: "a.csv")
    let importer = Importer(database: scratch.file("a.db"), table: "t", from: [.named(file)])
    let plain = LoadJob(database: scratch.file("b.db"), table: "t", sources: [file]).run()
    var summary: RunSummary?
    for await event in importer.events() {
      #expect(summary == nil)
      if case .ended(let ended) = event { summary = ended }
    }
    #expect(summary?.ledger == plain.ledger && summary?.error == nil)
    let tables = try ["a.db", "b.db"].map { try Database(scratch.file($0)).rows("SELECT * FROM t") }
    #expect(tables[0] == tables[1] && tables[0].count == 3)
  }

  /// Compressed CSV in small pieces.
  private struct Pieces: ByteProducer {
    var name = "pieces"
    var bytes: [UInt8]
    var fails = false

    struct Failure: Error, CustomStringConvertible { var description: String { "the store has hung up" } }

    func produce(into output: ByteOutput) throws {
      for start in stride(from: 0, to: bytes.count, by: 7) {
        try output.write(Array(bytes[start..<min(start + 7, bytes.count)]))
      }
      if fails { throw Failure() }
    }
  }

  @Test("Bytes of the program are decompressed and parsed as a file of them") func bytes() async throws {
    let text = "id,name\n" + (1...5_000).map { "\($0),n\($0)\n" }.joined()
    let bytes = Compressing.gzip(Array(text.utf8))
    let summary = await Importer(
      database: scratch.file("a.db"), table: "t", from: [.bytes(Pieces(bytes: bytes))]
    ).run()
    #expect(summary.error == nil && summary.ledger.inserted == 5_000)
    #expect(try Database(scratch.file("a.db")).rows("SELECT sum(id) FROM t") == ["12502500"])
  }

  @Test("What a producer throws ends the import as a cut file does, and is told") func failing() async throws
  {
    let text = "id,name\n" + (1...5_000).map { "\($0),n\($0)\n" }.joined()
    let summary = await Importer(
      database: scratch.file("a.db"), table: "t",
      from: [.bytes(Pieces(bytes: Array(text.utf8), fails: true))]
    ).run()
    #expect(summary.exitCode == 65)
    #expect(
      summary.error?.message.contains("pieces could not give all of its records: the store has hung up")
        == true)
  }

  private struct Values: RecordProducer {
    var name = "values"

    func produce(into output: RecordOutput) throws {
      try output.append([
        "id": .integer(1), "text": .text("a \"b\"\n"), "number": .real(0.1), "bytes": .blob([0, 255]),
        "none": .null,
      ])
      try output.append(["id": .integer(.min), "number": .real(.infinity)])
      try output.append(fields: [("id", .integer(3)), ("text", .text(""))])
    }
  }

  @Test("Records of the program keep their types") func records() async throws {
    let summary = await Importer(
      database: scratch.file("a.db"), table: "t",
      from: [.records(Values()), .named(scratch.write(#"{"id":9}"#, to: "b.ndjson"))]
    ).run()
    #expect(summary.error == nil && summary.ledger.inserted == 4)
    let rows = try Database(scratch.file("a.db")).rows("SELECT id, text, number, hex(bytes), none FROM t")
    #expect(
      rows == [
        "1|'a \"b\"\n'|0.1|'00FF'|NULL", "-9223372036854775808|NULL|inf|''|NULL", "3|''|NULL|''|NULL",
        "9|NULL|NULL|''|NULL",
      ])
  }

  @Test("Sources of one name are all read, each once") func sameNames() async throws {
    let summary = await Importer(
      database: scratch.file("a.db"), table: "t",
      from: [.records(Values()), .records(Values()), .records(Values())]
    ).run()
    #expect(summary.error == nil && summary.ledger.inserted == 9)
  }

  /// `key=value` lines.
  private struct KeyValueLines: FormatParser {
    func parse(_ input: ByteInput, into output: RecordOutput) throws {
      while let line = try input.readLine() {
        let parts = line.split(separator: "=", maxSplits: 1)
        try output.append(["key": .text(String(parts[0])), "value": .text(String(parts[1]))])
      }
    }
  }

  @Test("A line that never ends ends the import, in bounded memory") func longLine() async throws {
    for length in [17 << 20, 100] {
      let file = scratch.write("a=b\nc=" + String(repeating: "x", count: length) + "\n", to: "long.txt")
      let importer = Importer(
        database: scratch.file("long.db"), table: "t", from: [.named(file)], parser: KeyValueLines())
      let summary = await importer.run()
      #expect((summary.error?.message.contains("more than 16777216 bytes") ?? false) == (length > 100))
    }
  }

  @Test("A parser of the program reads files as they come, compressed or not") func parser() async throws {
    let text =
      (0..<40_000).map { "k\($0)=\(String(repeating: "v", count: $0 % 90))x\r\n" }.joined() + "last=1"
    let plain = scratch.write(text, to: "a.txt")
    let compressed = scratch.write(Compressing.gzip(Array(text.utf8)), to: "b.txt.gz")
    var options = LoadOptions()
    options.rules.target = .columns(["key"])
    options.indexes.createsKey = true
    for (name, file) in [("a.db", plain), ("b.db", compressed)] {
      let importer = Importer(
        database: scratch.file(name), table: "t", from: [.named(file)], options: options,
        parser: KeyValueLines())
      let summary = await importer.run()
      #expect(summary.error == nil && summary.ledger.inserted == 40_001)
      #expect(await importer.run().ledger.unchanged == 40_001)
      #expect(
        try Database(scratch.file(name)).rows("SELECT value FROM t WHERE key IN ('k3', 'last')") == [
          "'vvvx'", "'1'",
        ])
    }
  }

  /// Records without end.
  private struct Endless: RecordProducer {
    var name = "endless"

    func produce(into output: RecordOutput) throws {
      var id: Int64 = 0
      while true {
        id += 1
        try output.append(["id": .integer(id)])
      }
    }
  }

  @Test("A task that is cancelled, or a loop that is left, ends the import at a commit") func cancelled()
    async throws
  {
    var options = LoadOptions()
    options.transaction.direct = .never
    options.transaction.commitEvery = 1_000
    let importer = Importer(
      database: scratch.file("a.db"), table: "t", from: [.records(Endless())], options: options)
    let task = Task { await importer.run() }
    let path = scratch.file("a.db")
    while (try? Database(path).rows("SELECT 1 FROM t LIMIT 1"))?.isEmpty != false {
      try await Task.sleep(for: .milliseconds(20))
    }
    task.cancel()
    let summary = await task.value
    #expect(summary.signal != nil && summary.ledger.isBalanced)
    let count = try Database(scratch.file("a.db")).rows("SELECT count(*) FROM t")
    #expect(count == ["\(summary.ledger.inserted)"])

    let other = Importer(database: scratch.file("b.db"), table: "t", from: [.records(Endless())])
    for await event in other.events() {
      if case .progress(let progress) = event, progress.records > 0 { break }
    }
    // The database is free again, soon.
    options.transaction.resume = .never
    let third = await Importer(
      database: scratch.file("b.db"), table: "u", from: [.records(Values())], options: options
    ).run()
    #expect(third.error == nil && third.ledger.inserted == 3)
  }

  @Test("A mistake is in the summary") func mistakes() async {
    let importer = Importer(database: scratch.file("a.db"), table: "t", from: ["/nowhere/a.csv"])
    let summary = await importer.run()
    #expect(summary.exitCode == 66 || summary.error?.code == .unreadableInput)
  }
}
