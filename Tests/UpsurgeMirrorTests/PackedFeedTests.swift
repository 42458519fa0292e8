import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// Snapshots that come packed: what is cut sweeps nothing.
@Suite("Mirrors of archives", .serialized, .enabled(if: Packing.isThere, "\(Packing.need)"))
struct PackedFeedTests {
  let scratch = Scratch()

  static let forms = ["zip", "tar.gz", "tar.zst", "xz", "bz2", "lz4"]

  private static func rows(_ numbers: Range<Int>) -> String {
    "id,v\n" + numbers.map { "\($0),value \($0 * 7919 % 1_000)\n" }.joined()
  }

  /// 400 records; in an archive, in three files.
  private static func pack(_ form: String, isNext: Bool) throws -> [UInt8] {
    let numbers = 0..<(isNext ? 395 : 400)
    let whole = Array(rows(numbers).utf8)
    switch form {
    case "xz": return try Packing.xz(whole)
    case "bz2": return try Packing.bzip2(whole)
    case "lz4": return Packing.lz4(whole)
    default:
      let parts = [0..<100, 100..<300, 300..<numbers.upperBound]
      return try Packing.archive(
        Packing.Form(rawValue: form)!,
        parts.enumerated().map { ("part \($0.offset).csv", Array(rows($0.element).utf8)) })
    }
  }

  private var job: MirrorJob {
    var table = MirrorTable(name: "feed", sources: [scratch.file("feed")])
    table.options.rules.key = ["id"]
    table.sweep = .hard
    return MirrorJob(database: scratch.file("a.db"), tables: [table])
  }

  private func count() throws -> [String] { try Database(job.database).rows("SELECT count(*) FROM feed") }

  @Test("A delivery that is cut at any of 200 places takes no row away", arguments: forms)
  func cuts(form: String) throws {
    _ = scratch.write(try Self.pack(form, isNext: false), to: "feed")
    #expect(job.run().exitCode == 0)
    let next = try Self.pack(form, isNext: true)
    for step in 1...200 {
      let cut = 12 + (next.count - 13) * (step - 1) / 199
      _ = scratch.write(Array(next[..<cut]), to: "feed")
      let summary = job.run()
      #expect(
        [3, 65].contains(summary.exitCode), "\(form), \(cut) of \(next.count) bytes: \(summary.exitCode)")
      #expect(try count() == ["400"], "\(form), \(cut) of \(next.count) bytes")
    }
    _ = scratch.write(next, to: "feed")
    #expect(job.run().exitCode == 0)
    #expect(try count() == ["395"])
  }

  @Test("An archive that has not changed is not read again, and one that has changed is")
  func unchanged() throws {
    _ = scratch.write(try Self.pack("zip", isNext: false), to: "feed")
    #expect(job.run().ledger.inserted == 400)
    #expect(job.run().tables[0].unchangedSince != nil)
    _ = scratch.write(try Self.pack("zip", isNext: true), to: "feed")
    let summary = job.run()
    #expect(summary.ledger.swept == 5)
    #expect(summary.ledger.unchanged == 395)
  }

  @Test("A drop folder takes archives, each once")
  func dropFolder() throws {
    try FileManager.default.createDirectory(atPath: scratch.file("in"), withIntermediateDirectories: true)
    var job = job
    job.tables[0].sources = [Source(scratch.file("in"))]
    job.tables[0].kind = .delta
    job.tables[0].sweep = .none
    for (day, range) in [(1, 0..<10), (2, 5..<20)] {
      let bytes = try Packing.archive(
        .tarZstd, [("a.csv", Array(Self.rows(range).utf8)), ("b.csv", Array("id,v\n".utf8))])
      _ = scratch.write(bytes, to: "in/day\(day)")
    }
    #expect(job.run().exitCode == 0)
    #expect(try count() == ["20"])
    #expect(job.run().ledger.read == 0)
  }
}
