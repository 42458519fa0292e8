import Foundation
import TestSupport
import Testing

/// Archives as sources of the command.
@Suite("Loads of archives", .serialized, .enabled(if: Packing.isThere, "\(Packing.need)"))
struct ArchiveLoadTests {
  let scratch = Scratch()

  private static func csv(_ numbers: Range<Int>) -> [UInt8] {
    Array(("id,name,price\n" + numbers.map { "\($0),\"name, \($0)\",\($0).25\n" }.joined()).utf8)
  }

  private func load(_ words: String...) throws -> Command.Outcome {
    try Command.run(["load", scratch.file("a.db"), "t"] + words)
  }

  private func rows(_ query: String = "SELECT *, typeof(price) FROM t ORDER BY id") throws -> [String] {
    try Database(scratch.file("a.db")).rows(query)
  }

  private static let forms = Packing.Form.allCases.map(\.rawValue) + ["xz", "bz2", "lz4"]

  @Test("Each form gives the table that the plain file gives", arguments: forms)
  func equal(form: String) throws {
    let plain = scratch.write(Self.csv(0..<3_000), to: "plain.csv")
    #expect(try load(plain, "--key", "id").exitCode == 0)
    let expected = try rows()
    let bytes: [UInt8]
    switch form {
    case "xz": bytes = try Packing.xz(Self.csv(0..<3_000))
    case "bz2": bytes = try Packing.bzip2(Self.csv(0..<3_000))
    case "lz4": bytes = Packing.lz4(Self.csv(0..<3_000))
    default:
      let parts = [0..<1_000, 1_000..<1_001, 1_001..<3_000]
      bytes = try Packing.archive(
        #require(Packing.Form(rawValue: form)),
        parts.enumerated().map { ("d/\($0.offset).csv", Self.csv($0.element)) })
    }
    let packed = scratch.write(bytes, to: "packed")
    let outcome = try Command.run(["load", scratch.file("b.db"), "t", packed, "--key", "id"])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try Database(scratch.file("b.db")).rows("SELECT *, typeof(price) FROM t ORDER BY id") == expected)
  }

  @Test("Records of an archive are computed and filtered as those of plain files", arguments: forms)
  func shaped(form: String) throws {
    let bytes: [UInt8]
    switch form {
    case "xz": bytes = try Packing.xz(Self.csv(0..<3_000))
    case "bz2": bytes = try Packing.bzip2(Self.csv(0..<3_000))
    case "lz4": bytes = Packing.lz4(Self.csv(0..<3_000))
    default:
      bytes = try Packing.archive(
        #require(Packing.Form(rawValue: form)),
        [0..<1_000, 1_000..<1_001, 1_001..<3_000].enumerated().map {
          ("\($0.offset).csv", Self.csv($0.element))
        })
    }
    let packed = scratch.write(bytes, to: "packed")
    let outcome = try load(
      packed, "--let", "twice=price*2", "--let", "label=upper(substr(name, 1, 4))", "--where",
      "CAST(id AS INTEGER) % 3 = 1", "--add", "nr=record", "--quiet", "--summary", scratch.file("summary"))
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(
      try rows("SELECT count(*), sum(id), sum(twice) = sum(price) * 2, min(label), max(label) FROM t")
        == ["1000|1499500|1|'NAME'|'NAME'"])
    let summary = try String(contentsOfFile: scratch.file("summary"), encoding: .utf8)
    #expect(summary.contains("\"read\":3000") && summary.contains("\"filtered\":2000"), "\(summary)")
    // Records are counted in each file of an archive, also those that are left out.
    let isOne = !Packing.Form.allCases.map(\.rawValue).contains(form)
    let number = isOne ? "nr - id" : "nr - id + (id >= 1000) * 1000 + (id >= 1001)"
    #expect(try rows("SELECT min(\(number)), max(\(number)) FROM t") == ["1|1"])
  }

  /// What is printed of an archive whose files are these.
  private func talk(_ members: [(String, [UInt8])], _ name: String = "f.zip", _ part: String = "") throws
    -> String
  {
    let path = scratch.write(try Packing.archive(.zip, members), to: name)
    let outcome = try load(path + part)
    #expect(outcome.exitCode == 65, "\(outcome.talk)")
    return outcome.talk
  }

  @Test("Of files that hold no records, the hint names those that do")
  func others() throws {
    let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0]
    let inner = try Packing.archive(.zip, [("b.csv", Self.csv(3..<5))])
    let others: [(String, [UInt8])] = [
      ("pic.png", png), ("doc.pdf", Array("%PDF-1.4 x".utf8)), ("inner.zip", inner),
    ]
    for other in others {
      for members in [[("d/a.csv", Self.csv(0..<3)), other], [other, ("d/a.csv", Self.csv(0..<3))]] {
        let talk = try talk(members)
        let archive = scratch.file("f.zip")
        #expect(
          talk.contains("f.zip/\(other.0) is ")
            && talk.contains("fix: name \(archive)/d/a.csv, or \(archive)/d/*.csv"), "\(talk)")
      }
    }
    #expect(try load(scratch.file("f.zip") + "/d/*.csv").exitCode == 0)
    // Alone, an archive in an archive is to be unpacked.
    let alone = try talk([("inner.zip", inner)])
    #expect(
      alone.contains("fix: unpack \(scratch.file("f.zip")), and load inner.zip")
        && !alone.contains("unzip -p |"), "\(alone)")
    // A text is not the table, though it can be read.
    let readme = try talk([
      ("README.txt", Array("Read me.\nIt is text.\n".utf8)), ("a.csv.gz", Array("id,a\n1,x\n".utf8)),
      ("b.csv", Array("q,r\n1,2\n".utf8)),
    ])
    #expect(readme.contains("such as \(scratch.file("f.zip"))/a.csv.gz, or a pattern"), "\(readme)")
  }

  @Test("inspect takes patterns as load does, and says that there are more files")
  func inspected() throws {
    let path = scratch.write(
      try Packing.archive(.zip, [("a.csv", Self.csv(0..<3)), ("b.csv", Self.csv(3..<5))]), to: "two.zip")
    _ = scratch.write(Self.csv(0..<3), to: "1.tab")
    _ = scratch.write(Self.csv(0..<3), to: "2.tab")
    for (source, first) in [
      (path, "two.zip/a.csv"), (path + "/*.csv", "two.zip/a.csv"), (scratch.file("*.tab"), "1.tab"),
    ] {
      for options in [[], ["--check"]] {
        let outcome = try Command.run(["inspect", source] + options)
        #expect(outcome.exitCode == 0, "\(outcome.talk)")
        #expect(
          outcome.output.contains(
            "\(first) is the first of 2 files of \(source); name another one to look at it"),
          "\(outcome.output)")
      }
    }
    let one = try Command.run(["inspect", path + "/b.csv"])
    #expect(one.exitCode == 0 && !one.output.contains("the first of"), "\(one.output)")
    #expect(try Command.run(["inspect", path + "/*.tsv"]).exitCode == 66)
  }

  @Test(
    "A zip archive after the program that unpacks it is read",
    arguments: ["#!/bin/sh\necho unpacking\nexit 0\n", "MZ\u{0}\u{1}\u{2}", "id,name,price\n"])
  func selfExtracting(stub: String) throws {
    let archive = try Packing.archive(.zip, [("a.csv", Self.csv(0..<3)), ("b.csv", Self.csv(3..<5))])
    let path = scratch.write(Array(stub.utf8) + archive, to: "self.zip")
    let outcome = try load(path)
    #expect(outcome.exitCode == 0 && outcome.talk.contains("self.zip: zip · 2 files"), "\(outcome.talk)")
    #expect(try rows("SELECT count(*), sum(id) FROM t") == ["5|10"])
    // A text that is only called so is a text.
    let text = scratch.write(Self.csv(0..<3), to: "text.zip")
    #expect(try Command.run(["load", scratch.file("b.db"), "t", text]).exitCode == 0)
  }

  @Test("A bad record is kept with the file in the archive, and replayed")
  func rejects() throws {
    let bad = Array("id,name,price\n5,e,1\nsix,f,2\n7,g,3\n".utf8)
    let path = scratch.write(
      try Packing.archive(.zip, [("a.csv", Self.csv(0..<3)), ("in/b.csv", bad)]), to: "f.zip")
    let outcome = try load(
      path, "--key", "id", "--type", "id:INTEGER", "--strict", "--on-error", "reject", "--rejects",
      scratch.file("bad"))
    #expect(outcome.exitCode == 2, "\(outcome.talk)")
    let kept = try String(contentsOfFile: scratch.file("bad"), encoding: .utf8)
    #expect(kept.contains("f.zip/in/b.csv"), "\(kept)")
    #expect(kept.contains("\"record\":2,\"line\":3"), "\(kept)")
    _ = scratch.write(kept.replacing("six", with: "6"), to: "bad")
    let replay = try Command.run(["replay", scratch.file("a.db"), scratch.file("bad")])
    #expect(replay.exitCode == 0, "\(replay.talk)")
    #expect(try rows("SELECT id FROM t ORDER BY id") == ["0", "1", "2", "5", "6", "7"])
  }

  @Test("A load that stops in the third file resumes there, and doubles nothing")
  func resumes() throws {
    var bytes = try Packing.archive(
      .zip,
      [0..<2_000, 2_000..<4_000, 4_000..<104_000].enumerated().map {
        ("\($0.offset).csv", Self.csv($0.element))
      })
    let whole = bytes
    // The checksum of the third file: that it is wrong shows when all of the file has been read.
    let third = try #require(bytes.indices.last { bytes[$0...].starts(with: [0x50, 0x4B, 3, 4]) })
    bytes[third + 14] ^= 0x55
    let path = scratch.write(bytes, to: "f.zip")
    let first = try load(path, "--commit-every", "500")
    #expect(first.exitCode == 3, "\(first.talk)")
    #expect(first.talk.contains("f.zip/2.csv is corrupt"), "\(first.talk)")
    let stored = try #require(Int(rows("SELECT count(*) FROM t")[0]))
    #expect(stored >= 4_000)
    let second = try load(path, "--commit-every", "500")
    #expect(second.exitCode == 3, "\(second.talk)")
    // The second one may come nearer to the end; what it adds was not there before.
    let more = try #require(Int(rows("SELECT count(*) FROM t")[0]))
    #expect(more >= stored && more < 104_000)
    #expect(try rows("SELECT count(DISTINCT id), min(id), max(id) FROM t") == ["\(more)|0|\(more - 1)"])
    // Another archive is another input.
    _ = scratch.write(whole, to: "f.zip")
    let third2 = try load(path, "--commit-every", "500")
    #expect(third2.exitCode == 4, "\(third2.talk)")
    #expect(try rows("SELECT count(*) FROM t") == ["\(more)"])
  }

  @Test("Files of several tables are refused with their columns, and nothing is loaded")
  func kinds() throws {
    let path = scratch.write(
      try Packing.archive(
        .zip,
        [
          ("stops.txt", Array("stop_id,name\n1,a\n".utf8)),
          ("routes.txt", Array("route_id,type\n1,3\n".utf8)),
        ]),
      to: "f.zip")
    let outcome = try load(path)
    #expect(outcome.exitCode == 65)
    #expect(outcome.talk.contains("f.zip/stops.txt has stop_id, name; "), "\(outcome.talk)")
    #expect(outcome.talk.contains("f.zip/routes.txt has route_id, type"), "\(outcome.talk)")
    #expect(!FileManager.default.fileExists(atPath: scratch.file("a.db")))
    let inspected = try Command.run(["inspect", path + "/stops.txt"])
    #expect(inspected.exitCode == 0, "\(inspected.talk)")
    #expect(inspected.output.contains("stop_id"))
  }

  @Test("Links are left out with a warning, and archives from a pipe are refused")
  func leftOut() throws {
    let path = scratch.write(
      try Packing.archive(.tar, [("a.csv", Self.csv(0..<3)), ("l.csv", Array("-> /etc/passwd".utf8))]),
      to: "f.tar")
    let outcome = try load(path)
    #expect(outcome.exitCode == 0)
    #expect(
      outcome.talk.contains("f.tar/l.csv of the archive: links, devices and pipes are not read"),
      "\(outcome.talk)")
    let piped = try Command.run([scratch.file("b.db"), path], script: "cat \"$2\" | \"$0\" load \"$1\" t -")
    #expect(piped.exitCode == 65)
    #expect(
      piped.talk.contains("standard input is a tar archive, and archives are read from files only"),
      "\(piped.talk)")
  }

  @Test("A bomb in an archive stays within the memory")
  func bomb() throws {
    let program = """
      import sys, zipfile
      with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as archive:
          for name in "ab":
              with archive.open(name + ".csv", "w") as file:
                  file.write(b"id\\n")
                  for _ in range(100): file.write(b"1" * (1 << 20))
      """
    try Packing.python(program, [scratch.file("f.zip")])
    let outcome = try load(
      scratch.file("f.zip"), "--memory", "16MiB", "--max-ratio", "500", "--summary", "-", "-q")
    #expect(outcome.exitCode == 65, "\(outcome.talk)")
    let summary = try #require(
      JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    MemoryBound.expect(try #require(summary["peak_memory_bytes"] as? Int), memory: 16 << 20, "an archive")
  }

  @Test("The feed of the manual: one job, several tables, foreign keys")
  func transit() throws {
    let file = ManualPage.root.appendingPathComponent(
      "Sources/UpsurgeCommand/UpsurgeCommand.docc/Archives.md")
    let page = try String(contentsOf: file, encoding: .utf8)
    let job = try #require(
      page.split(separator: "```yaml\n").dropFirst().first?.split(separator: "```").first)
    let schema = try #require(
      page.split(separator: "```sql\n").dropFirst().first?.split(separator: "```").first)
    try Database(scratch.file("transit.db")).rows(String(schema))
    _ = scratch.write(String(job), to: "gtfs.yaml")
    func feed(stops: Int, trips: Int) throws {
      let stopLines = (1...stops).map { "S\($0),\"Stop \($0)\",52.\($0),13.\($0)\n" }.joined()
      let times = (1...trips).flatMap { trip in
        (1...4).map { "T\(trip),\($0),S\((trip + $0) % stops + 1),08:0\($0):00\n" }
      }
      let members = [
        ("agency.txt", "agency_id,agency_name\n1,Rail\n"),
        ("stop_times.txt", "trip_id,stop_sequence,stop_id,arrival_time\n" + times.joined()),
        (
          "trips.txt",
          "route_id,service_id,trip_id\n" + (1...trips).map { "R\($0 % 3),daily,T\($0)\n" }.joined()
        ),
        (
          "routes.txt", "route_id,route_short_name,route_type\n" + (0..<3).map { "R\($0),\($0),3\n" }.joined()
        ),
        ("stops.txt", "stop_id,stop_name,stop_lat,stop_lon\n" + stopLines),
      ]
      _ = scratch.write(try Packing.archive(.zip, members.map { ($0.0, Array($0.1.utf8)) }), to: "feed.zip")
    }
    let query = """
      SELECT (SELECT count(*) FROM stops), (SELECT count(*) FROM trips), (SELECT count(*) FROM stop_times),
        (SELECT count(*) FROM pragma_foreign_key_check)
      """
    for (stops, trips) in [(50, 40), (50, 38)] {
      try feed(stops: stops, trips: trips)
      let outcome = try Command.run(["mirror", scratch.file("transit.db"), scratch.file("gtfs.yaml")])
      #expect(outcome.exitCode == 0, "\(outcome.talk)")
      #expect(try Database(scratch.file("transit.db")).rows(query) == ["\(stops)|\(trips)|\(trips * 4)|0"])
    }
  }
}
