import Oracles
import UpsurgeParsing
import UpsurgeRecords

/// The fast JSON reader equals the slow one, whatever the dialect, the batches and the pieces.
enum JSONFuzz {
  static func run(_ input: inout FuzzInput) throws {
    let format = input.pick(JSONFormat.allCases)
    let paths: [[String]] = [[], [], ["data"], ["a", "b"], ["é"]]
    let separators: [String?] = [nil, nil, "_", "."]
    let dialect = JSONDialect(
      format: format, jsonPath: format == .json ? input.pick(paths) : [],
      flattenSeparator: input.pick(separators),
      duplicateKeys: input.pick(JSONDialect.DuplicateKeys.allCases),
      maximumDepth: input.pick([JSONDialect.depthLimit, 64, 3, 2, 1]))
    let sizes = input.sizes()
    let piece = input.number(1...40)
    let isEndLate = input.flag()
    let policy = input.byte()
    let limit = input.byte()
    let bytes = input.rest()

    let odd = JSONBatchDriver(sizes: sizes, pieces: [piece, 1, piece * 2], isEndLate: isEndLate)
    let drivers = [
      JSONBatchDriver(sizes: FuzzInput.roomy), odd,
      JSONBatchDriver(sizes: FuzzInput.roomy, pieces: [piece, .max]),
    ]
    if let difference = oracleDifference(bytes, dialect, drivers) {
      throw Finding("\(dialect): \(difference)")
    }
    try compareRestarted(bytes, dialect, odd)
    if policy > 0 { try compareKnown(bytes, dialect, odd, policy) }
    if limit > 0 {
      var limited = odd
      limited.recordLimit = limit * 4
      _ = parse(bytes, dialect, driver: limited)
      try compareRestarted(bytes, dialect, limited)
    }
  }

  /// A parser that takes over in the middle goes on as the one before would have.
  private static func compareRestarted(
    _ bytes: [UInt8], _ dialect: JSONDialect, _ driver: JSONBatchDriver
  ) throws {
    func make(_ columns: [ColumnTarget]) -> JSONParser {
      JSONParser(
        dialect: dialect, file: "t", columns: columns, policy: JSONKeyPolicy(unknown: .add(.warn)))
    }
    let expected = parse(bytes, dialect, driver: driver)
    var parser = make([])
    let found = driver.run(bytes, &parser, remakingIt: make)
    try expect(
      found == expected, "restarted, \(driver), \(dialect):\nfound \(found)\nexpected \(expected)")
  }

  /// With columns that a table has, what small batches give is what one batch gives.
  private static func compareKnown(
    _ bytes: [UInt8], _ dialect: JSONDialect, _ odd: JSONBatchDriver, _ choice: Int
  ) throws {
    let kinds: [Affinity] = [.integer, .real, .numeric, .none, .text]
    let columns = ["id", "a", "b", "é"].enumerated().map { index, name in
      ColumnTarget(
        name: name, affinity: kinds[(choice + index) % kinds.count],
        spellingPolicy: choice & 16 == 0 ? .warn : .reject, isBlob: choice & 32 != 0)
    }
    let unknown: [JSONKeyPolicy.UnknownKey] = [.skip, .refuse(table: "t"), .addUntyped, .add(.reject)]
    let policy = JSONKeyPolicy(
      unknown: unknown[choice % 4], wanted: choice & 64 == 0 ? nil : ["id", "b", "a_b"],
      renames: choice & 128 == 0 ? [:] : ["a": "b2", "x": "id2"])
    let one = parse(
      bytes, dialect, driver: JSONBatchDriver(sizes: FuzzInput.roomy), columns: columns, policy: policy)
    let many = parse(bytes, dialect, driver: odd, columns: columns, policy: policy)
    try expect(one == many, "\(policy), \(dialect), \(odd):\none \(one)\nmany \(many)")
  }
}
