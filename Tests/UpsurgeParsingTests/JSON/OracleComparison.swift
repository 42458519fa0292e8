import Testing
import UpsurgeRecords

@testable import UpsurgeParsing

func parse(
  _ bytes: [UInt8], _ dialect: JSONDialect, driver: JSONBatchDriver = JSONBatchDriver(), columns: [ColumnTarget] = [],
  policy: JSONKeyPolicy = JSONKeyPolicy(unknown: .add(.warn))
) -> ParsedInput {
  var parser = JSONParser(dialect: dialect, file: "t", columns: columns, policy: policy)
  return driver.run(bytes, &parser)
}

func parse(_ text: String, _ dialect: JSONDialect, driver: JSONBatchDriver = JSONBatchDriver()) -> ParsedInput {
  parse(Array(text.utf8), dialect, driver: driver)
}

/// Compares the fast reader with the slow one, and each driver's result with the first one's.
func expectOracle(_ bytes: [UInt8], _ dialect: JSONDialect, _ drivers: [JSONBatchDriver], _ name: String) {
  guard let first = drivers.first else { return }
  let fast = parse(bytes, dialect, driver: first)
  for driver in drivers.dropFirst() {
    let other = parse(bytes, dialect, driver: driver)
    if other != fast {
      Issue.record("\(name): other result with \(driver): \(difference(fast, other))")
      return
    }
  }
  var parser = JSONParser(
    dialect: dialect, file: "t", columns: [], policy: JSONKeyPolicy(unknown: .add(.warn)))
  parser.usesKernelForMembers = false
  let general = first.run(bytes, &parser)
  if general != fast {
    Issue.record("\(name): other result without the kernel: \(difference(fast, general))")
  }
  // The oracle recurses; deep nesting would exhaust its stack.
  if bytes.count > 50_000 && bytes.starts(with: [0x5B, 0x5B]) { return }
  var oracle = OracleRecords(dialect: dialect)
  do {
    try oracle.read(bytes)
  } catch {
    if fast.error != nil { return }
    // A record of a document that is not UTF-8 can be told from its neighbours, which the oracle does not try.
    if fast.rejects.contains(where: { $0.code == .invalidUTF8 }) { return }
    Issue.record("\(name): the oracle refuses it (\(error)), the reader does not")
    return
  }
  if let error = fast.error {
    Issue.record("\(name): the oracle reads it, the reader says \(error)")
    return
  }
  let expected = oracle.records
  let found = fast.records.map(\.values)
  if let index = zip(expected, found).enumerated().first(where: { $1.0 != $1.1 })?.offset {
    Issue.record("\(name): record \(index) should be \(expected[index]), is \(found[index])")
  }
  #expect(expected.count == found.count, "\(name)")
  #expect(oracle.columns == fast.columns, "\(name)")
  var rejects: [UInt64: Reject.Code] = [:]
  for reject in fast.rejects {
    let number = reject.position.record ?? 0
    rejects[number] = reject.code
    // Of two faults in one record either may be told.
    if reject.code == .invalidUTF8 && oracle.rejects[number] == .jsonSyntax { rejects[number] = .jsonSyntax }
  }
  #expect(rejects == oracle.rejects, "\(name)")
  let duplicates = fast.warnings.entries.filter { $0.code == .duplicateKey || $0.code == .columnCollision }
    .reduce(0) { $0 + $1.count }
  #expect(duplicates == oracle.duplicateCount, "\(name)")
}

private func difference(_ left: ParsedInput, _ right: ParsedInput) -> String {
  if left.error?.description != right.error?.description {
    return "\(left.error?.description ?? "no error") / \(right.error?.description ?? "no error")"
  }
  if left.columns != right.columns { return "\(left.columns) / \(right.columns)" }
  if let pair = zip(left.records, right.records).first(where: { $0 != $1 }) { return "\(pair.0) / \(pair.1)" }
  if let pair = zip(left.rejects, right.rejects).first(where: { $0 != $1 }) { return "\(pair.0) / \(pair.1)" }
  return "\(left.records.count) / \(right.records.count) records, \(left.warnings) / \(right.warnings)"
}
