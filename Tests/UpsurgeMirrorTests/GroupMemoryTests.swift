import TestSupport
import Testing
import UpsurgePlan
import UpsurgeRecords

@testable import Upsurge

/// What tables of one transaction take of the memory together.
@Suite("Memory of tables in one transaction") struct GroupMemoryTests {
  let scratch = Scratch()

  @Test("The rows that stay, of all tables, take an eighth of the memory", arguments: ["", "WITHOUT ROWID"])
  func seenRows(suffix: String) throws {
    let path = scratch.file("a.db")
    let database = Database(path)
    let names = (0..<6).map { "t\($0)" }
    var options = LoadOptions()
    options.rules.key = ["id"]
    options.transaction.memory = .mebibytes(16)
    options.transaction.isAtomic = true
    options.transaction.direct = .never
    (options.indexes.upkeep, options.indexes.fullTextUpkeep) = (.keep, .keep)
    var rules = SnapshotRules()
    rules.sweep = .hard
    rules.guards.maximumDeletes = .percent(100)
    options.delivery.rules.snapshot = rules
    let group = LoadGroup(
      database: path, options: names.map { _ in options }, control: RunControl(), note: { _ in })
    for name in names {
      // Each rowid needs a page of bits of its own.
      try database.rows(
        """
        CREATE TABLE \(name)(id INTEGER PRIMARY KEY, v INTEGER) \(suffix);
        WITH n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 249)
          INSERT INTO \(name) SELECT i << 20, 0 FROM n;
        """)
    }
    let delivered = (50..<250).map { $0 << 20 }
    for name in names {
      let source = scratch.write("id,v\n" + delivered.map { "\($0),1\n" }.joined(), to: "\(name).csv")
      let load = LoadJob(database: path, table: name, sources: [source], options: options)
      let end = load.runToEnd(control: RunControl(), in: group, note: { _ in }, tick: { _ in })
      #expect(end.summary.error == nil, "\(end.summary.error?.description ?? "")")
    }
    let outcome = group.finish(names.map { [LoadGroup.Table(name: $0)] }, failure: nil)
    #expect(outcome.error == nil)
    let memory = group.seenMemory
    #expect(memory.byteLimit == 2 << 20 && memory.peakByteCount <= memory.byteLimit)
    // 200 pages of 8 KiB are those of the first table; there is no room for another one.
    #expect(memory.peakByteCount == (suffix.isEmpty ? 2 << 20 : 0))
    #expect(memory.spillCount == (suffix.isEmpty ? 5 : 6))
    for name in names {
      #expect(try database.rows("SELECT id FROM \(name) WHERE v = 1") == delivered.map { "\($0)" })
      #expect(try database.rows("SELECT count(*) FROM \(name)") == ["200"])
    }
  }
}
