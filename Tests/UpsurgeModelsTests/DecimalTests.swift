import Foundation
import TestSupport
import Testing
import Upsurge
import UpsurgeModels

@Table struct Amount: Equatable {
  let id: Int
  var value: Double
}

/// Models and files say the same numbers.
///
/// `UPSURGE_DECIMALS=1000000 UPSURGE_PART=models swift test --filter DecimalTests` tries a million.
@Suite("Decimals of models") struct DecimalTests {
  let scratch = Scratch()

  private func load(_ file: String, into database: String) -> Ledger {
    var options = LoadOptions()
    options.rules.key = ["id"]
    return LoadJob(database: database, table: "amounts", sources: [file], options: options).run().ledger
  }

  @Test("A model's double is what CSV and NDJSON store for its decimal, whichever comes first")
  func sameDoubles() async throws {
    let seed = SeededGenerator.givenSeed ?? UInt64.random(in: 0..<1_000_000_000)
    let texts = Decimals.texts(Decimals.count, seed: seed)
    let count = UInt64(texts.count)
    let models = texts.enumerated().map { Amount(id: $0.offset, value: strtod($0.element, nil)) }
    let csv = scratch.write(
      "id,value\n" + texts.enumerated().map { "\($0),\($1)\n" }.joined(), to: "in.csv")
    let ndjson = scratch.write(
      texts.enumerated().map { "{\"id\":\($0),\"value\":\($1)}\n" }.joined(), to: "in.ndjson")
    for isFileFirst in [true, false] {
      let path = scratch.file("\(isFileFirst).db")
      let database = try UpsurgeModels.Database(path)
      try await database.execute("\(raw: Amount.createTableSQL)")
      if isFileFirst {
        #expect(load(csv, into: path).inserted == count)
        #expect(try await database.upsert(models).unchanged == count, "seed \(seed)")
      } else {
        #expect(try await database.upsert(models).inserted == count)
      }
      #expect(load(ndjson, into: path).unchanged == count, "seed \(seed)")
      #expect(load(csv, into: path).unchanged == count, "seed \(seed)")
    }
  }
}
