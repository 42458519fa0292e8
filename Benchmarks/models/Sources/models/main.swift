// One call that upserts models, against GRDB's records and against one statement a row. The rows are in memory before the
// clock starts; what it says is the seconds until they are committed.

import Foundation
import GRDB
import UpsurgeModels

let arguments = CommandLine.arguments
guard arguments.count == 4, ["call", "records", "single", "literals"].contains(arguments[1]) else {
  FileHandle.standardError.write(
    Data(
      """
      usage: models call|records|single DATABASE CSV
             models literals DATABASE COUNT
      Upserts the rows of `generate narrow csv` by key into the table "narrow", which must be there. WAL, synchronous=NORMAL.
      call: one call of UpsurgeModels; records: GRDB's upsert, all in one transaction; single: GRDB's upsert, one by one.
      literals: one call of so many rows whose texts are literals, to count what the call allocates.

      """.utf8))
  exit(64)
}
if arguments[1] == "literals" {
  let database = try UpsurgeModels.Database(arguments[2])
  let ledger = try await database.upsert(LiteralRows(count: Int64(arguments[3]) ?? 0), on: \.id)
  print(ledger.inserted)
  exit(0)
}
let rows = try Narrow.read(arguments[3])
let clock = ContinuousClock()
let time: Duration
if arguments[1] == "call" {
  let database = try UpsurgeModels.Database(arguments[2])
  let start = clock.now
  let ledger = try await database.upsert(rows, on: \.id)
  time = clock.now - start
  precondition(ledger.read == UInt64(rows.count) && ledger.rejected == 0)
} else {
  var configuration = Configuration()
  configuration.prepareDatabase { try $0.execute(sql: "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL") }
  let queue = try DatabaseQueue(path: arguments[2], configuration: configuration)
  let records = rows.map(NarrowRecord.init)
  let start = clock.now
  if arguments[1] == "records" {
    try queue.write { database in for record in records { try record.upsert(database) } }
  } else {
    for record in records { try queue.write { try record.upsert($0) } }
  }
  time = clock.now - start
}
print("{\"seconds\": \(time / .seconds(1)), \"rows\": \(rows.count)}")
