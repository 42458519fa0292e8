// GRDB on the narrow table, 100,000 records a transaction: its own record methods `insert` and `upsert`, or one cached
// statement that is given each record's values.

import Foundation
import GRDB

let arguments = CommandLine.arguments
guard arguments.count == 5, ["records", "statement"].contains(arguments[1]),
  ["insert", "upsert"].contains(arguments[2])
else {
  FileHandle.standardError.write(
    Data(
      """
      usage: grdb records|statement insert|upsert DATABASE CSV
      Loads the CSV of `generate narrow csv` into the table "narrow", which must be there. WAL, synchronous=NORMAL.

      """.utf8))
  exit(64)
}
let isByRecord = arguments[1] == "records"
let isUpsert = arguments[2] == "upsert"
let recordsPerTransaction = 100_000

var configuration = Configuration()
configuration.prepareDatabase { database in
  try database.execute(sql: "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL")
}
let queue = try DatabaseQueue(path: arguments[3], configuration: configuration)
let file = try Data(contentsOf: URL(fileURLWithPath: arguments[4]), options: .alwaysMapped)

try file.withUnsafeBytes { bytes in
  var rest = bytes[...]
  func nextLine() -> UnsafeRawBufferPointer.SubSequence? {
    guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    defer { rest = rest[(end + 1)...] }
    return rest[..<end]
  }
  _ = nextLine()  // the header
  while !rest.isEmpty {
    try queue.write { database in
      let statement = try database.cachedStatement(
        sql: isUpsert ? NarrowRecord.upsertSQL : NarrowRecord.insertSQL)
      for _ in 0..<recordsPerTransaction {
        guard let line = nextLine() else { break }
        guard let record = NarrowRecord(line: line) else {
          FileHandle.standardError.write(Data("not a record: \(String(decoding: line, as: UTF8.self))\n".utf8))
          exit(65)
        }
        if !isByRecord {
          try statement.execute(arguments: record.values)
        } else if isUpsert {
          try record.upsert(database)
        } else {
          try record.insert(database)
        }
      }
    }
  }
}
_ = try queue.writeWithoutTransaction { try $0.checkpoint(.truncate) }
try queue.close()
