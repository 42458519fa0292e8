import Foundation
import TestSupport
import Testing
import UpsurgeRecords

@testable import Oracles
@testable import UpsurgeParsing

/// Files that nobody here wrote: what they must give, and that the fast parser equals the oracle on them.
@Suite struct CSVFixtureTests {
  static let spectrumFolder = (Bundle.module.resourcePath ?? ".") + "/Fixtures/csv-spectrum"
  static let spectrumNames = CSVFixtures.list(spectrumFolder + "/csvs").map { String($0.dropLast(4)) }

  @Test func spectrumIsComplete() { #expect(Self.spectrumNames.count == 12) }

  @Test(arguments: spectrumNames) func spectrum(name: String) throws {
    let (sniffed, document) = try CSVFixtures.load(readFile("\(Self.spectrumFolder)/csvs/\(name).csv"))
    let json = try JSONSerialization.jsonObject(
      with: Data(readFile("\(Self.spectrumFolder)/json/\(name).json")))
    // One record is not always put into an array there.
    var expected = try #require(json as? [[String: String]] ?? (json as? [String: String]).map { [$0] })
    // The suite's JSON holds another telephone number than its CSV.
    if name == "location_coordinates" { expected[0]["Contact Phone Number"] = "2095257564" }
    // The suite knows no NULL: an unquoted empty field is '' there.
    let found = document.rows.map { row in
      Dictionary(uniqueKeysWithValues: zip(sniffed.headerNames, row.map { $0 ?? "" }))
    }
    #expect(document.rejections == [])
    #expect(found == expected)
  }

  @Test(arguments: spectrumNames) func spectrumAtEverySplit(name: String) throws {
    let bytes = try readFile("\(Self.spectrumFolder)/csvs/\(name).csv")
    let sniffed = CSVSniffer.sniff(sample: bytes, isWhole: true)
    for split in 0...bytes.count {
      let driver = BatchDriver(sizes: CSVPropertyTests.sizes(arena: 1024), splits: [split])
      let difference = try CSVPropertyTests.difference(
        bytes, sniffed.dialect, fieldCount: sniffed.fieldCount, driver)
      #expect(difference == nil, "split \(split)")
    }
    for arena in [1, 7, 32, 64] {
      let driver = BatchDriver(sizes: CSVPropertyTests.sizes(arena: arena, records: 2))
      let difference = try CSVPropertyTests.difference(
        bytes, sniffed.dialect, fieldCount: sniffed.fieldCount, driver)
      #expect(difference == nil, "arena \(arena)")
    }
  }

  static let wild =
    SharedData.isPresent ? CSVFixtures.list(SharedData.path("wild_csv")).filter { $0.hasSuffix("sv") } : []
  static let csvkit =
    SharedData.isPresent
    ? CSVFixtures.list(SharedData.path("csvkit_examples")).filter { $0.hasSuffix("sv") } : []

  /// Columns and records as the manifest says, everything sniffed.
  @Test(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.skipNote)))
  func wildCountsAreThoseOfTheManifest() throws {
    let json = try JSONSerialization.jsonObject(with: Data(SharedData.bytes("wild_csv/MANIFEST.json")))
    let manifest = try #require(json as? [[String: Any]])
    #expect(manifest.count == 33)
    for entry in manifest {
      let name = try #require(entry["file"] as? String)
      // A debug build takes too long for the largest; the command loads them all (SharedDataTests).
      if try SharedData.bytes("wild_csv/" + name).count > 300_000 { continue }
      let (sniffed, document) = try CSVFixtures.load(CSVFixtures.utf8(SharedData.path("wild_csv/" + name)))
      #expect(sniffed.fieldCount == entry["header_columns"] as? Int, "\(name): \(sniffed.summary)")
      #expect(document.records.count == entry["rows_python_csv"] as? Int, "\(name): \(sniffed.summary)")
      #expect(document.rejections == [], "\(name)")
    }
  }

  /// A few random splits of each file; the whole of it in small batches.
  @Test(
    .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.skipNote)),
    arguments: wild.map { "wild_csv/" + $0 } + csvkit.map { "csvkit_examples/" + $0 })
  func sharedFilesEqualTheOracle(name: String) throws {
    // The bytes as they are: what is not UTF-8 must be rejected record by record. Large files are cut.
    let bytes = Array(try SharedData.bytes(name).prefix(12_000))
    let sniffed = CSVSniffer.sniff(sample: bytes, isWhole: true)
    var dialect = sniffed.dialect
    let fieldCount = max(sniffed.fieldCount, 1)
    let seed = UInt64.random(in: 0 ... .max)
    var generator = SeededGenerator(seed: seed)
    for ragged in CSVDialect.RaggedPolicy.allCases {
      dialect.ragged = ragged
      let expected = CSVOracle.parse(bytes, dialect, fieldCount: fieldCount)
      let cut = Int.random(in: 0...bytes.count, using: &generator)
      let drivers = [
        BatchDriver(splits: [cut]),
        BatchDriver(sizes: CSVPropertyTests.sizes(arena: 512, records: 10, cells: 200), noticesEndLate: true),
        BatchDriver(sizes: CSVPropertyTests.sizes(arena: 8192, records: 300, cells: 2000), splits: [cut]),
      ]
      for driver in drivers {
        var parser = CSVParser.text(dialect, fieldCount: fieldCount)
        let found = try driver.parse(bytes, with: &parser)
        #expect(found == expected, "seed \(seed), split \(cut), \(driver.sizes), \(dialect)")
      }
    }
  }
}
