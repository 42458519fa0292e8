import CScan
import Oracles
import UpsurgeParsing
import UpsurgeRecords

/// The fast CSV parser equals the slow one, whatever the dialect, the batches, the splits and the kernel.
enum CSVFuzz {
  static func run(_ input: inout FuzzInput) throws {
    guard let dialect = dialect(&input) else { return }
    let fieldCount = input.number(1...5)
    let level = Int32(input.number(0...Int(upsurge_simd_level())))
    let sizes = input.sizes()
    let splitSeed = input.byte()
    let noticesEndLate = input.flag()
    let typed = input.byte()
    let limit = input.byte()
    let bytes = input.rest()
    let splits =
      splitSeed == 0 ? [] : Array(stride(from: splitSeed % 67, to: bytes.count, by: 1 + splitSeed % 61))

    let expected = CSVOracle.parse(bytes, dialect, fieldCount: fieldCount)
    try compare(
      bytes, dialect, fieldCount, BatchDriver(sizes: FuzzInput.roomy), level: 0, with: expected)
    let odd = BatchDriver(sizes: sizes, splits: splits, noticesEndLate: noticesEndLate)
    if splitSeed & 1 == 0 {
      try compare(bytes, dialect, fieldCount, odd, level: level, with: expected)
    } else {
      try compareRestarted(bytes, dialect, fieldCount, odd, with: expected)
    }
    if typed > 0 { try compareTyped(bytes, dialect, fieldCount, odd, level: level, typed) }
    if limit > 0 { try parseLimited(bytes, dialect, fieldCount, odd, limit: limit) }
  }

  /// nil for marks that cannot be told apart.
  static func dialect(_ input: inout FuzzInput) -> CSVDialect? {
    let delimiters = [",", ",", ",", ";", "\t", "|", "::", "||", "é", "a", " ", "\"", "'", "\\", "a,a", "\0"]
    let delimiter = Array(input.pick(delimiters).utf8)
    let quotes = ["\"", "\"", "\"", "'", "", "a", "\\"].map(\.utf8.first)
    let escapes = ["", "", "\\", "\"", "b"].map(\.utf8.first)
    let comments = ["", "", "#", "//", "a\"", "\""].map { $0.isEmpty ? nil : Array($0.utf8) }
    let nulls: [[String]] = [[], [], ["NA"], ["a", "\""], ["\\N", ""], ["NULL", "null", "é"]]
    var dialect = CSVDialect(
      delimiter: delimiter, quote: input.pick(quotes), escape: input.pick(escapes),
      commentPrefix: input.pick(comments), nullSpellings: input.pick(nulls).map { Array($0.utf8) },
      ragged: input.pick(CSVDialect.RaggedPolicy.allCases))
    dialect.headerLineCount = input.number(0...2)
    dialect.quotes = input.pick(CSVDialect.Quotes.allCases)
    dialect.skippedLineCount = input.number(0...2)
    return (try? dialect.validate()) == nil ? nil : dialect
  }

  private static func compare(
    _ bytes: [UInt8], _ dialect: CSVDialect, _ fieldCount: Int, _ driver: BatchDriver, level: Int32,
    with expected: ParsedDocument
  ) throws {
    var parser = CSVParser.text(dialect, fieldCount: fieldCount, simdLevel: level)
    let found = try driver.parse(bytes, with: &parser)
    try expect(
      found == expected, "\(driver), kernel \(level), \(dialect):\nfound \(found)\nexpected \(expected)")
  }

  /// A parser that takes over in the middle goes on as the one before would have.
  private static func compareRestarted(
    _ bytes: [UInt8], _ dialect: CSVDialect, _ fieldCount: Int, _ driver: BatchDriver,
    with expected: ParsedDocument
  ) throws {
    var parser = CSVParser.text(dialect, fieldCount: fieldCount)
    let found = try driver.parse(bytes, with: &parser) { CSVParser.text(dialect, fieldCount: fieldCount) }
    try expect(found == expected, "restarted, \(driver), \(dialect):\nfound \(found)\nexpected \(expected)")
  }

  /// With numbers in some columns, what small batches give is what one batch gives.
  private static func compareTyped(
    _ bytes: [UInt8], _ dialect: CSVDialect, _ fieldCount: Int, _ driver: BatchDriver, level: Int32,
    _ typed: Int
  ) throws {
    let kinds: [Affinity] = [.integer, .real, .numeric, .none]
    var affinities: [Int: Affinity] = [:]
    for field in 0..<fieldCount where typed >> field & 1 == 1 {
      affinities[field] = kinds[(typed + field) % kinds.count]
    }
    let policy: ColumnTarget.SpellingPolicy = typed & 0x80 == 0 ? .reject : .warn
    var one = CSVParser.text(
      dialect, fieldCount: fieldCount, affinities: affinities, spellingPolicy: policy, simdLevel: 0)
    var many = CSVParser.text(
      dialect, fieldCount: fieldCount, affinities: affinities, spellingPolicy: policy, simdLevel: level)
    let expected = try BatchDriver(sizes: FuzzInput.roomy).parse(bytes, with: &one)
    let found = try driver.parse(bytes, with: &many)
    try expect(
      found == expected, "\(affinities), \(driver), \(dialect):\nfound \(found)\nexpected \(expected)")
  }

  /// Records that are given up as too large: only that it comes to an end, and in order.
  private static func parseLimited(
    _ bytes: [UInt8], _ dialect: CSVDialect, _ fieldCount: Int, _ driver: BatchDriver, limit: Int
  ) throws {
    var driver = driver
    driver.recordByteLimit = limit
    var parser = CSVParser.text(dialect, fieldCount: fieldCount)
    let found: ParsedDocument
    do { found = try driver.parse(bytes, with: &parser) } catch is UpsurgeError { return }
    let numbers = (found.records.map(\.number) + found.rejections.map(\.number)).sorted()
    try expect(
      numbers == (0..<numbers.count).map { UInt64($0 + 1) },
      "numbers \(numbers) with limit \(limit), \(driver)")
    parser = CSVParser.text(dialect, fieldCount: fieldCount)
    let restarted = try driver.parse(bytes, with: &parser) { CSVParser.text(dialect, fieldCount: fieldCount) }
    try expect(found == restarted, "restarted with limit \(limit), \(driver):\n\(found)\n\(restarted)")
  }
}
