import Oracles
import UpsurgeInput
import UpsurgeParsing
import UpsurgeRecords

/// Whatever is sniffed can be parsed with what was found.
enum SniffFuzz {
  static func run(_ input: inout FuzzInput) throws {
    let isWhole = input.flag()
    let given = overrides(&input)
    let encoding = input.pick(TextEncoding.allCases)
    let bytes = input.rest()

    try detectEncoding(encoding, bytes, isWhole: isWhole)
    let format = bytes.withUnsafeBufferPointer { JSONSniffer.sniff($0, isWhole: isWhole) }
    if let format {
      var inference = ColumnInference(isJSON: true)
      var parser = JSONParser(
        dialect: JSONDialect(format: format), file: "t", columns: [],
        policy: JSONKeyPolicy(unknown: .addUntyped))
      observe(bytes, &parser, &inference)
    }

    let found = CSVSniffer.sniff(sample: bytes, isWhole: isWhole, given: given)
    do {
      try found.dialect.validate()
    } catch {
      // What was given may contradict itself, which is found before it is sniffed.
      if given.delimiter == nil && given.quote == nil && given.escape == nil && given.commentPrefix == nil {
        throw Finding("sniffed a dialect that is none: \(found.summary): \(error)")
      }
      return
    }
    try expect(found.fieldCount == found.headerNames.count, "\(found)")
    let keys = Set(found.headerNames.map(\.nameKey))
    try expect(keys.count == found.headerNames.count, "names are not unique: \(found.headerNames)")
    try expect(!found.headerNames.contains(""), "a name is empty: \(found.headerNames)")
    if found.fieldCount == 0 { return }
    try parse(bytes, found)
  }

  private static func overrides(_ input: inout FuzzInput) -> CSVOverrides {
    let ragged = input.pick(CSVDialect.RaggedPolicy.allCases)
    return CSVOverrides(
      delimiter: input.maybe(Array(",".utf8)), quote: input.maybe(.byte(UInt8(ascii: "'"))),
      escape: input.maybe(.byte(UInt8(ascii: "\\"))), commentPrefix: input.maybe(Array("#".utf8)),
      headerLineCount: input.maybe(2), skippedLineCount: input.maybe(1),
      columnNames: input.maybe(["a", "b", "A"]), ragged: ragged)
  }

  private static func detectEncoding(_ given: TextEncoding, _ bytes: [UInt8], isWhole: Bool) throws {
    for allowsSingleByte in [false, true] {
      let finding = try? bytes.withUnsafeBytes {
        try EncodingDetector.detect(
          given, sample: $0, isWhole: isWhole, allowsSingleByte: allowsSingleByte, name: "t")
      }
      guard let finding else { continue }
      try expect(finding.markByteCount <= bytes.count, "a mark that is not there: \(finding)")
      try expect(finding.encoding != .auto && finding.encoding != .utf16, "no encoding: \(finding)")
    }
  }

  private static func parse(_ bytes: [UInt8], _ found: CSVSniffResult) throws {
    let expected = CSVOracle.parse(bytes, found.dialect, fieldCount: found.fieldCount)
    var parser = CSVParser.text(found.dialect, fieldCount: found.fieldCount)
    let parsed = try BatchDriver(sizes: FuzzInput.roomy).parse(bytes, with: &parser)
    try expect(parsed == expected, "\(found.summary):\nfound \(parsed)\nexpected \(expected)")
    let affinities = Dictionary(uniqueKeysWithValues: (0..<found.fieldCount).map { ($0, Affinity.none) })
    var untyped = CSVParser.text(found.dialect, fieldCount: found.fieldCount, affinities: affinities)
    var inference = ColumnInference(isJSON: false)
    observe(bytes, &untyped, &inference)
    for slot in 0...found.fieldCount { _ = inference.inferredType(of: slot) }
  }

  /// Lets the inference see the records of the first batch.
  private static func observe(
    _ bytes: [UInt8], _ parser: inout some RecordParser, _ inference: inout ColumnInference
  ) {
    var batch = Batch(sizes: FuzzInput.roomy)
    if bytes.count > batch.arenaCapacity { batch.growArena(to: bytes.count) }
    batch.freeArena.copyBytes(from: bytes)
    batch.arenaByteCount = bytes.count
    if (try? parser.parse(&batch, isFinal: true)) == nil { return }
    inference.observe(batch)
  }
}
