import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeParsing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Numbers of CSV fields and of JSON, in columns of every affinity: equal to `strtoll` and `strtod` to the bit, and to
/// SQLite, which may miss the nearest double by one.
@Suite("Numbers in columns")
struct NumberPropertyTests {
  private static func environment(_ name: String) -> UInt64? {
    getenv(name).flatMap { UInt64(String(cString: $0)) }
  }

  /// `UPSURGE_NUMBER_SEEDS` says how many seeds of 1,000 texts each, `UPSURGE_SEED` the first; others each time
  /// without it.
  static let seeds: Range<UInt64> = {
    let given = environment("UPSURGE_SEED")
    let first = given ?? UInt64.random(in: 0..<1_000_000_000)
    print("UPSURGE_SEED=\(first) begins the texts of numbers")
    return first..<first + (environment("UPSURGE_NUMBER_SEEDS") ?? (given == nil ? 12 : 1))
  }()

  static let textsPerSeed = 1_000
  /// More are not told.
  private static let mostFailures = 10

  @Test("A text becomes the number of strtoll and strtod, and all else is stored as SQLite itself stores it")
  func textsAgainstSQLite() {
    let columns = SQLiteColumns()
    var (failureCount, integerCount, realCount, textCount) = (0, 0, 0, 0)
    for seed in Self.seeds {
      var maker = NumberTexts(seed: seed)
      let texts = (0..<Self.textsPerSeed).map { _ in maker.next() }
      var notes: [[ConversionNote]] = []
      for text in texts {
        let found = SQLiteColumns.affinities.map { converted(text, $0) }
        let cells = found.map(\.cell)
        columns.store(text, as: cells)
        notes.append(found.map(\.note))
        if let fault = Self.fault(in: cells, of: text) { fail(fault, text, seed, &failureCount) }
        switch cells[0].kind {
        case .integer: integerCount += 1
        case .real: realCount += 1
        default: if found[0].note == .none { fail("a number is left to SQLite", text, seed, &failureCount) }
        }
      }
      let count = columns.takeRows { row in
        for (column, affinity) in SQLiteColumns.affinities.enumerated() {
          let text = texts[row.index]
          if !row.isSame(column, of: text) {
            fail("\(affinity): \(row.words(column))", text, seed, &failureCount)
          }
          let isText = row.isText(column)
          textCount += isText && affinity == .integer ? 1 : 0
          if affinity.isNumeric && isText != (notes[row.index][column] == .textInNumberColumn) {
            fail("\(affinity): the note is \(notes[row.index][column])", text, seed, &failureCount)
          }
        }
      }
      #expect(count == texts.count)
      if failureCount >= Self.mostFailures { return }
    }
    // Each way is met often.
    let total = Self.seeds.count * Self.textsPerSeed
    let share =
      "\(integerCount) integers, \(realCount) reals, \(textCount) texts of \(total)"
    #expect(integerCount > total / 20 && realCount > total / 10, "\(share)")
    #expect(textCount > total / 100, "\(share)")
  }

  /// What is wrong with the numbers that a text became.
  private static func fault(in cells: [Cell], of text: [UInt8]) -> String? {
    let integer = SlowNumbers.isPlainInteger(text) ? SlowNumbers.integer(text) : nil
    for (cell, affinity) in zip(cells, SQLiteColumns.affinities) {
      switch cell.kind {
      case .integer:
        if integer.map({ UInt64(bitPattern: $0) }) != cell.payload { return "\(affinity): \(cell)" }
      case .real:
        if SlowNumbers.nearestDouble(text).bitPattern != cell.payload { return "\(affinity): \(cell)" }
      default:
        let isInteger = affinity == .integer || affinity == .numeric
        if isInteger && integer != nil { return "\(affinity): an integer was left as text" }
        if cell.kind != .text || Int(cell.byteCount) != text.count { return "\(affinity): \(cell)" }
      }
      if !affinity.isNumeric && cell.kind != .text { return "\(affinity): \(cell)" }
    }
    return nil
  }

  @Test(
    "A JSON number becomes that of strtoll or strtod, and stays text where no column of numbers asks for less digits"
  )
  func jsonAgainstLibrary() throws {
    var (failureCount, integerCount, realCount, textCount) = (0, 0, 0, 0)
    for seed in Self.seeds {
      var maker = NumberTexts(seed: seed)
      let texts = (0..<Self.textsPerSeed).map { _ in maker.next() }.filter(SlowNumbers.isJSON)
      try parsed(texts) { index, affinity, found in
        let text = texts[index]
        let expected = SlowNumbers.value(json: text, affinity)
        if found != expected {
          fail("\(affinity): \(found) instead of \(expected)", text, seed, &failureCount)
        }
        if affinity != .none { return }
        switch expected {
        case .integer: integerCount += 1
        case .real: realCount += 1
        case .text: textCount += 1
        }
      }
      if failureCount >= Self.mostFailures { return }
    }
    let total = integerCount + realCount + textCount
    let share = "\(integerCount) integers, \(realCount) reals, \(textCount) texts"
    #expect(total > Self.seeds.count * Self.textsPerSeed / 4, "\(share)")
    #expect(integerCount > total / 20 && realCount > total / 5 && textCount > total / 20, "\(share)")
  }

  /// Has the parser of NDJSON read each number into a column of each affinity.
  private func parsed(
    _ texts: [[UInt8]], _ body: (_ index: Int, _ affinity: Affinity, SlowNumbers.Value) -> Void
  ) throws {
    let columns = SQLiteColumns.affinities.map {
      ColumnTarget(name: "\($0)", affinity: $0, spellingPolicy: .warn)
    }
    var bytes: [UInt8] = []
    for text in texts {
      for (index, column) in columns.enumerated() {
        bytes += "\(index == 0 ? "{" : ",")\"\(column.name)\":".utf8
        bytes += text
      }
      bytes += "}\n".utf8
    }
    var parser = JSONParser(
      dialect: JSONDialect(), file: "t", columns: columns, policy: JSONKeyPolicy(unknown: .add(.warn)))
    var batch = Batch(
      sizes: Batch.Sizes(
        arenaByteCount: bytes.count + 64, cellCount: (texts.count + 1) * columns.count,
        recordCount: texts.count + 1))
    batch.freeArena.copyBytes(from: bytes)
    batch.arenaByteCount = bytes.count
    try parser.parse(&batch, isFinal: true)
    let (recordCount, columnCount) = (batch.recordCount, batch.columnCount)
    #expect(recordCount == texts.count && columnCount == columns.count)
    guard recordCount == texts.count, columnCount == columns.count else { return }
    for (index, text) in texts.enumerated() {
      for (slot, column) in columns.enumerated() {
        let cell = batch.cells[index * columnCount + slot]
        switch cell.kind {
        case .integer: body(index, column.affinity, .integer(Int64(bitPattern: cell.payload)))
        case .real: body(index, column.affinity, .real(cell.payload))
        default:
          let isWhole = batch.bytes(of: cell).elementsEqual(text)
          #expect(isWhole)
          body(index, column.affinity, .text)
        }
      }
    }
  }

  private func fail(_ words: String, _ text: [UInt8], _ seed: UInt64, _ count: inout Int) {
    count += 1
    if count > Self.mostFailures { return }
    let shown = String(decoding: text.prefix(100), as: UTF8.self)
    Issue.record("\"\(shown)\" (\(text.count) bytes), UPSURGE_SEED=\(seed): \(words)")
  }
}

/// A text's cell in a column of an affinity. It is read from a copy of exactly its bytes, so that reading past
/// the end is caught where memory is checked.
func converted(_ text: [UInt8], _ affinity: Affinity) -> (cell: Cell, note: ConversionNote) {
  var cell = Cell.absent
  let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.count)
  defer { copy.deallocate() }
  _ = copy.initialize(from: text)
  guard let start = UnsafePointer(copy.baseAddress) else { return (cell, .none) }
  let note = convertText(
    start, count: text.count, offset: 0, isInSpill: false, affinity: affinity, into: &cell)
  return (cell, note)
}
