import TestSupport
import Testing

@testable import Upsurge

/// A load whose work is counted: what it asks of SQLite and of the file system.
struct CountedLoad: Sendable, CustomTestStringConvertible {
  var name: String
  /// SQL that makes the database before the load.
  var setup = ""
  /// What was loaded before, uncounted.
  var before: (@Sendable () -> [UInt8])?
  var input: @Sendable () -> [UInt8]
  /// What every record must have become.
  var outcome: KeyPath<Ledger, UInt64> & Sendable
  var rowCount = CountedRows.narrowCount
  var change: @Sendable (inout LoadOptions) -> Void = { $0.rules.key = ["id"] }

  var testDescription: String { name }

  static let all: [CountedLoad] = [
    CountedLoad(name: "narrow CSV, new table", input: { CountedRows.narrow }, outcome: \.inserted),
    CountedLoad(
      name: "narrow CSV, no key", input: { CountedRows.narrow }, outcome: \.inserted,
      change: { $0.rules.mode = .insert }),
    CountedLoad(
      name: "narrow CSV, two indexes", input: { CountedRows.narrow }, outcome: \.inserted,
      change: {
        $0.rules.key = ["id"]
        $0.indexes.wanted = [["quantity"], ["name"]]
      }),
    CountedLoad(
      name: "narrow CSV, WITHOUT ROWID",
      setup: """
        CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, category TEXT, quantity INTEGER, price REAL,
          updated_at TEXT) WITHOUT ROWID
        """, input: { CountedRows.narrow }, outcome: \.inserted),
    CountedLoad(
      name: "narrow CSV, upsert, all changed", before: { CountedRows.narrow },
      input: { CountedRows.narrowChanged }, outcome: \.updated),
    CountedLoad(
      name: "narrow CSV, upsert, none changed", before: { CountedRows.narrow },
      input: { CountedRows.narrow }, outcome: \.unchanged),
    CountedLoad(
      name: "narrow NDJSON, new table", input: { CountedRows.narrowNDJSON }, outcome: \.inserted),
    CountedLoad(
      name: "wide CSV, random text key", input: { CountedRows.wide }, outcome: \.inserted,
      rowCount: CountedRows.wideCount, change: { $0.rules.key = ["key"] }),
  ]

  /// Loads once, and counts.
  func counts() throws -> [Count: Int] {
    let scratch = Scratch()
    let path = scratch.file("a.db")
    if !setup.isEmpty { try Database(path).rows(setup) }
    if let before { try load(before(), to: path, scratch, on: nil) }
    let disk = FaultDisk()
    disk.countStatements()
    let summary = try load(input(), to: path, scratch, on: disk)
    #expect(summary.ledger[keyPath: outcome] == UInt64(rowCount), "\(summary.ledger)")
    #expect(disk.openFileCount == 0)
    return [
      .statements: disk.statementCount, .operations: disk.operationCount,
      .logWrites: disk.writeCount(.log), .logBytes: disk.bytesWritten(.log),
      .databaseWrites: disk.writeCount(.database), .databaseBytes: disk.bytesWritten(.database),
      .otherWrites: disk.writeCount(.other), .reads: disk.count(.read), .syncs: disk.count(.sync),
    ]
  }

  @discardableResult
  private func load(
    _ bytes: [UInt8], to path: String, _ scratch: Scratch, on disk: FaultDisk?
  ) throws -> RunSummary {
    var options = LoadOptions()
    change(&options)
    options.transaction.commitEvery = options.rules.key == ["key"] ? .auto : .records(20_000)
    options.input.csv.delimiter = [UInt8(ascii: ",")]
    options.environment.vfsName = disk?.name
    let source = scratch.write(bytes, to: "input")
    let summary = LoadJob(database: path, table: "t", sources: [source], options: options).run()
    #expect(summary.error == nil && summary.exitCode == 0)
    return summary
  }
}

/// What is counted of a load.
enum Count: String, CaseIterable, Sendable {
  /// Statements that ran, PRAGMAs left out.
  case statements
  /// Operations of SQLite's virtual machine in them.
  case operations
  /// Writes to the write-ahead log, and their bytes.
  case logWrites, logBytes
  /// Writes to the database's own file, and their bytes.
  case databaseWrites, databaseBytes
  /// Writes to journals of statements, and temporary files.
  case otherWrites
  case reads, syncs

  var words: String {
    switch self {
    case .statements: "statements"
    case .operations: "operations of SQLite's virtual machine"
    case .logWrites: "writes to the write-ahead log"
    case .logBytes: "bytes written to the write-ahead log"
    case .databaseWrites: "writes to the database file"
    case .databaseBytes: "bytes written to the database file"
    case .otherWrites: "writes to journals and temporary files"
    case .reads: "reads"
    case .syncs: "syncs"
    }
  }
}
