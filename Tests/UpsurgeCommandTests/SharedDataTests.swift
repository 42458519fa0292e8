import Foundation
import TestSupport
import Testing

@testable import UpsurgeInput

/// Real data that nobody of us wrote, loaded and compared with what is known of it.
@Suite("Shared data", .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.skipNote)))
struct SharedDataTests {
  let scratch = Scratch()

  /// The command, as a debug build in this process takes minutes for the large files.
  private func load(_ source: String, into table: String = "t", _ options: String...) throws -> Told {
    let outcome = try Command.run(
      ["load", scratch.file("a.db"), table, source, "--summary", "-", "-q"] + options)
    let told = try JSONDecoder().decode(Told.self, from: Data(outcome.output.utf8))
    let ledger = told.ledger
    #expect(ledger["read"] == ledger.values.reduce(0, +) - (ledger["read"] ?? 0), "\(source): \(ledger)")
    return told
  }

  /// What a summary says.
  private struct Told: Decodable {
    var ledger: [String: Int]
    var exitCode: Int
    var bytesWrittenToLog: Int

    enum CodingKeys: String, CodingKey {
      case ledger
      case exitCode = "exit_code"
      case bytesWrittenToLog = "wal_bytes_written"
    }
  }

  private func rows(_ sql: String) throws -> [String] {
    try Database(scratch.file("a.db")).rows(sql)
  }

  @Test("Two releases of baby names: every count is right, and a third load writes nothing")
  func babyNames() throws {
    let key = "--key=year,name,sex"
    let first = try load(SharedData.path("large/babynames_release2010_1880-2010.csv.zst"), key)
    #expect(first.exitCode == 0 && first.ledger["inserted"] == 1_690_784)
    let later = SharedData.path("large/babynames_release2023_1880-2023.csv.zst")
    let second = try load(later, key)
    #expect(second.ledger["inserted"] == 427_491)
    #expect(second.ledger["updated"] == 164_195)
    #expect(second.ledger["unchanged"] == 1_525_533)
    let reader = Database(scratch.file("a.db"))
    #expect(try reader.rows("SELECT count(*) FROM t") == ["2118275"])
    #expect(try reader.rows("PRAGMA integrity_check") == ["'ok'"])
    let third = try load(later, key)
    #expect(third.ledger["unchanged"] == 2_117_219)
    #expect(third.bytesWrittenToLog == 0)
    // `reader` is still open, so a log would still be there.
    let log = (try? readFile(scratch.file("a.db-wal")))?.count ?? 0
    #expect(log == 0)
  }

  @Test("Forty snapshots of .gov domains, one after another")
  func dotGov() throws {
    let archive = SharedData.path("history/dotgov_history.tar.zst")
    try unpack(archive)
    let stats = String(
      decoding: try SharedData.bytes("history/dotgov_stats.tsv"), as: UTF8.self
    ).split(separator: "\n").dropFirst().map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
    #expect(stats.count == 40)
    for fields in stats {
      let summary = try load(scratch.file("dotgov_history/\(fields[1])"), "--key=Domain name")
      #expect(summary.exitCode == 0)
      if fields[8] == "-" {
        #expect(summary.ledger["inserted"] == Int(fields[5]))
      } else {
        #expect(summary.ledger["inserted"] == Int(fields[8]), "\(fields[1])")
        #expect(summary.ledger["updated"] == Int(fields[10]), "\(fields[1])")
      }
    }
  }

  @Test("csv-spectrum: each file gives its JSON")
  func csvSpectrum() throws {
    let folder = SharedData.path("csv-spectrum/csvs")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    #expect(names.count == 12)
    for name in names {
      let table = String(name.dropLast(4))
      let summary = try load(folder + "/" + name, into: table, "--infer=none", "--delimiter=,")
      #expect(summary.exitCode == 0, "\(name)")
      let json = try JSONSerialization.jsonObject(
        with: Data(SharedData.bytes("csv-spectrum/json/\(table).json")))
      var expected = try #require(json as? [[String: String]] ?? (json as? [String: String]).map { [$0] })
      let columns = try rows("SELECT name FROM pragma_table_info('\(table)')").map {
        String($0.dropFirst().dropLast())
      }
      let loaded = try rows(
        "SELECT " + columns.map { "coalesce(\"\($0)\", '')" }.joined(separator: ", ") + " FROM \(table)")
      if name == "location_coordinates.csv" {
        // The suite's own JSON has another phone number than its CSV.
        expected[0]["Contact Phone Number"] = "2095257564"
      }
      let wanted = expected.map { record in
        columns.map { "'\(record[$0] ?? "?")'" }.joined(separator: "|")
      }
      #expect(loaded == wanted, "\(name)")
    }
  }

  @Test("wild_csv: as many rows as its manifest says")
  func wildCSV() throws {
    let json = try JSONSerialization.jsonObject(with: Data(SharedData.bytes("wild_csv/MANIFEST.json")))
    let files = try #require(json as? [[String: Any]])
    #expect(files.count == 33)
    for (index, file) in files.enumerated() {
      let name = try #require(file["file"] as? String)
      // What the manifest counts: every record that has a field, ragged or not.
      let summary = try load(SharedData.path("wild_csv/" + name), into: "t\(index)", "--ragged=extra")
      #expect(summary.exitCode == 0, "\(name)")
      #expect(summary.ledger["inserted"] == file["rows_python_csv"] as? Int, "\(name)")
    }
  }

  @Test("Real NDJSON: every line is a row, and a broken line is found")
  func ndjson() throws {
    let summary = try load(SharedData.path("ndjson/bitly_usagov.ndjson"))
    #expect(summary.exitCode == 0 && summary.ledger["inserted"] == 3_560)
    let cells = try load(
      SharedData.path("ndjson/amazon_cellphones.ndjson"), into: "phones", "--on-error=reject",
      "--rejects=\(scratch.file("rejects"))")
    #expect(cells.ledger["read"] == 792)
  }

  /// Unpacks a .tar.zst into the scratch folder with the system's tools.
  private func unpack(_ archive: String) throws {
    let tar = scratch.write(try decompressed(archive), to: "archive.tar")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["tar", "xf", tar, "-C", scratch.path]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  private func decompressed(_ path: String) throws -> [UInt8] {
    // An archive is no table, so the source itself would refuse it.
    let source = try ZstdSource(FileSource(name: path), name: path, windowByteLimit: 1 << 27)
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = try chunk.withUnsafeMutableBytes { try source.read(into: $0) }
      if count == 0 { return bytes }
      bytes += chunk[..<count]
    }
  }
}
