import SQLiteSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeSQLite
@testable import UpsurgeStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Trees of every height and fill, records of every length.
@Suite struct DirectShapeTests {
  static let tables = [
    "CREATE TABLE t(a TEXT, n)",
    "CREATE TABLE t(a TEXT NOT NULL, n, PRIMARY KEY (a))",
    "CREATE TABLE t(n, a TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE t(a TEXT, n); CREATE INDEX i ON t(a)",
  ]

  private func text(_ number: Int, _ length: Int) -> Value {
    let digits = String(1_000_000 + number)
    return .text(
      length <= 7 ? String(digits.suffix(length)) : digits + String(repeating: "x", count: length - 7))
  }

  private func order(_ table: String) -> String { table.contains("WITHOUT") ? "a" : "rowid" }

  /// Every length up to several overflow pages, in leaves and, as keys, in interior pages.
  @Test(arguments: tables) func everyLengthOnSmallPages(_ table: String) throws {
    let rows = (7...1700).map { [text($0, $0), .integer(Int64($0))] }
    let packing = Packing(table, ["a", "n"], pageByteCount: 512)
    #expect(try packing.check(rows, order: order(table)) == rows.count)
  }

  /// Lengths around each limit of larger pages, by the formulas of the file format.
  @Test(arguments: tables, [1024, 4096, 16384, 65536]) func lengthsAroundTheLimits(
    _ table: String, _ pageByteCount: Int
  ) throws {
    var lengths: Set<Int> = []
    for isIndex in [false, true] {
      let limits = LocalLimits(usableByteCount: pageByteCount, isIndex: isIndex)
      let round = limits.overflowByteCount
      for border in [limits.most, limits.least + round, limits.most + round, limits.least + 2 * round, round]
      {
        for near in -16...4 { lengths.insert(border + near) }
      }
    }
    let rows = lengths.sorted().enumerated().map { [text($0, $1), .integer(Int64($0))] }
    var packing = Packing(table, ["a", "n"], pageByteCount: pageByteCount)
    packing.batchSize = 30
    #expect(try packing.check(rows, order: order(table)) == rows.count)
  }

  /// Every number of rows through three heights: four entries fill a page of an index.
  @Test(arguments: tables) func everyNumberOfRows(_ table: String) throws {
    for count in 0...140 {
      let packing = Packing(table, ["a", "n"], pageByteCount: 512)
      let rows = (0..<count).map { [text($0, 95), .integer(Int64($0))] }
      let database = TemporaryDatabase()
      #expect(try packing.run(rows, into: database).count == count)
      let connection = try Connection(path: database.path, createIfMissing: false)
      #expect(try connection.text("PRAGMA integrity_check") == "ok", "\(table) \(count)")
      #expect(try connection.rows("SELECT a, n FROM t ORDER BY \(order(table))") == rows, "\(table) \(count)")
      unlink(database.path)
    }
  }

  /// A table's interior page with one child too many, at two heights: 33 cells, 34 children where rowids take 9 bytes.
  @Test(arguments: [1...40, 60...70, 1150...1160, 1180...1200]) func childrenAreShared(
    _ counts: ClosedRange<Int>
  ) throws {
    for count in counts {
      let packing = Packing("CREATE TABLE t(k INTEGER PRIMARY KEY, v TEXT)", ["k", "v"], pageByteCount: 512)
      let rows = (0..<count).map { [Value.integer(.min + Int64($0)), text($0, 420)] }
      let database = TemporaryDatabase()
      #expect(try packing.run(rows, into: database).count == count)
      let connection = try Connection(path: database.path, createIfMissing: false)
      #expect(try connection.text("PRAGMA integrity_check") == "ok", "\(count)")
      #expect(try connection.integer("SELECT count(*) FROM t WHERE length(v) = 420") == Int64(count))
      unlink(database.path)
    }
  }

  /// Entries of three bytes, which take four on a leaf and three in front of a child.
  @Test(arguments: [2, 3, 250, 10_000]) func theSmallestEntries(_ count: Int) throws {
    let create = "CREATE TABLE t(k INTEGER PRIMARY KEY) WITHOUT ROWID"
    let packing = Packing(create, ["k"], pageByteCount: 512)
    #expect(try packing.check((0..<count).map { [.integer(Int64($0))] }, order: "k") == count)
    let database = TemporaryDatabase()
    try packing.run([[0], [1]], into: database)
    try exercise(database, create)
  }

  /// Hundreds of thousands of rows on the smallest pages: trees four pages high.
  @Test(arguments: ["k INTEGER PRIMARY KEY", "k INT PRIMARY KEY", "k INT PRIMARY KEY) WITHOUT ROWID --"])
  func highTrees(_ column: String) throws {
    let count = 300_000
    let database = TemporaryDatabase()
    let image = try ImageFile.make(for: database.path)
    let packing = Packing("CREATE TABLE t(\(column)\n)".replacingEnd(column), ["k"], pageByteCount: 512)
    var table = try DirectTable(packing.layout(image), image: image)
    var batch = Batch(sizes: .init(arenaByteCount: 1, cellCount: 10_000, recordCount: 10_000))
    for start in stride(from: 0, to: count, by: 10_000) {
      batch.reset()
      batch.begin(columnCount: 1)
      for record in 0..<10_000 { batch.cells[record] = .integer(Int64(start + record)) }
      batch.recordCount = 10_000
      #expect(try table.append(batch))
    }
    #expect(try table.finish())
    try image.handOver(isSynced: false)
    let connection = try Connection(path: database.path, createIfMissing: false)
    #expect(try connection.text("PRAGMA integrity_check") == "ok")
    #expect(
      try connection.rows("SELECT count(*), sum(k), min(k), max(k) FROM t") == [
        [
          .integer(Int64(count)), .integer(Int64(count * (count - 1) / 2)), 0, .integer(Int64(count - 1)),
        ]
      ])
    #expect(try connection.integer("SELECT k FROM t WHERE k = 123456") == 123456)
    try exercise(database, column)
  }

  /// The page that holds the byte at 2^30 is SQLite's own: it stays out of every tree.
  @Test func theLockBytePageIsLeftOut() throws {
    let database = TemporaryDatabase()
    let image = try ImageFile.make(for: database.path)
    let packing = Packing("CREATE TABLE t(a TEXT PRIMARY KEY, n)", ["a", "n"], pageByteCount: 65536)
    let layout = try packing.layout(image)
    let firstFree: UInt32 = 16_382
    try fillWithFreePages(image, upTo: firstFree - 1)
    var table = try DirectTable(layout, image: image)
    var maker = BatchMaker(packing.columns)
    maker.sizes = .init(arenaByteCount: 4 << 20, cellCount: 1 << 10, recordCount: 1 << 10)
    // Chains of overflow pages across the border, and leaves behind it.
    let rows = (0..<8).map { [text($0, 200_000), .integer(Int64($0))] }
    #expect(try table.append(maker.batch(rows)))
    #expect(try table.finish())
    try image.handOver(isSynced: false)
    let connection = try Connection(path: database.path, createIfMissing: false)
    #expect(try connection.integer("PRAGMA page_count") ?? 0 > 16_390)
    #expect(try connection.text("PRAGMA integrity_check") == "ok")
    #expect(try connection.rows("SELECT a, n FROM t") == rows)
    let used = try? connection.integer("SELECT count(*) FROM dbstat WHERE pageno = 16385")
    #expect(used ?? 0 == 0)
    unlink(database.path)
  }

  /// Pages that SQLite takes for free ones, so that the next is where the test wants it; the file stays sparse.
  private func fillWithFreePages(_ image: ImageFile, upTo last: UInt32) throws {
    let pageByteCount = 65536
    var header = [UInt8](repeating: 0, count: 100)
    pread(image.descriptor, &header, 100, 0)
    func number(_ value: UInt32) -> [UInt8] {
      (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }
    let first = header[28..<32].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } + 1
    let free = Array(first...last)
    let perTrunk = pageByteCount / 4 - 8
    var trunks = stride(from: 0, to: free.count, by: perTrunk + 1).map {
      Array(free[$0..<min($0 + perTrunk + 1, free.count)])
    }
    header.replaceSubrange(28..<32, with: number(last))
    header.replaceSubrange(32..<36, with: number(trunks[0][0]))
    header.replaceSubrange(36..<40, with: number(UInt32(free.count)))
    pwrite(image.descriptor, header, 100, 0)
    while !trunks.isEmpty {
      let trunk = trunks.removeFirst()
      var bytes = number(trunks.first?[0] ?? 0) + number(UInt32(trunk.count - 1))
      for page in trunk.dropFirst() { bytes += number(page) }
      pwrite(image.descriptor, bytes, bytes.count, off_t(Int(trunk[0] - 1) * pageByteCount))
    }
    ftruncate(image.descriptor, off_t(Int(last) * pageByteCount))
  }
}
