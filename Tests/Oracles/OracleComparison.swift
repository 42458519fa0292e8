import UpsurgeParsing
import UpsurgeRecords

/// What the fast JSON reader makes of some bytes.
package func parse(
  _ bytes: [UInt8], _ dialect: JSONDialect, driver: JSONBatchDriver = JSONBatchDriver(),
  columns: [ColumnTarget] = [], policy: JSONKeyPolicy = JSONKeyPolicy(unknown: .add(.warn))
) -> ParsedInput {
  var parser = JSONParser(dialect: dialect, file: "t", columns: columns, policy: policy)
  return driver.run(bytes, &parser)
}

/// What the parser makes of a text.
package func parse(_ text: String, _ dialect: JSONDialect, driver: JSONBatchDriver = JSONBatchDriver())
  -> ParsedInput
{
  parse(Array(text.utf8), dialect, driver: driver)
}

/// Compares each driver's result with the first one's, with and without the kernel, and the fast reader with the
/// slow one.
/// - Returns: the first difference, or nil.
package func oracleDifference(
  _ bytes: [UInt8], _ dialect: JSONDialect, _ drivers: [JSONBatchDriver]
) -> String? {
  guard let first = drivers.first else { return nil }
  let fast = parse(bytes, dialect, driver: first)
  for driver in drivers.dropFirst() {
    let other = parse(bytes, dialect, driver: driver)
    if other != fast { return "other result with \(driver): \(difference(fast, other))" }
  }
  var parser = JSONParser(
    dialect: dialect, file: "t", columns: [], policy: JSONKeyPolicy(unknown: .add(.warn)))
  parser.usesKernelForMembers = false
  let general = first.run(bytes, &parser)
  if general != fast { return "other result without the kernel: \(difference(fast, general))" }
  // The oracle recurses; deep nesting would exhaust its stack.
  if bytes.count > 50_000 && bytes.starts(with: [0x5B, 0x5B]) { return nil }
  return difference(of: fast, fromOracleOn: bytes, dialect)
}

private func difference(
  of fast: ParsedInput, fromOracleOn bytes: [UInt8], _ dialect: JSONDialect
) -> String? {
  var oracle = OracleRecords(dialect: dialect)
  do {
    try oracle.read(bytes)
  } catch {
    if fast.error != nil { return nil }
    // A record of a document that is not UTF-8 can be told from its neighbours, which the oracle does not try.
    if fast.rejects.contains(where: { $0.code == .invalidUTF8 }) { return nil }
    return "the oracle refuses it (\(error)), the reader does not"
  }
  if let error = fast.error { return "the oracle reads it, the reader says \(error)" }
  let expected = oracle.records
  let found = fast.records.map(\.values)
  if let index = zip(expected, found).enumerated().first(where: { $1.0 != $1.1 })?.offset {
    return "record \(index) should be \(expected[index]), is \(found[index])"
  }
  if expected.count != found.count { return "\(found.count) records instead of \(expected.count)" }
  if oracle.columns != fast.columns { return "columns \(fast.columns) instead of \(oracle.columns)" }
  var rejects: [UInt64: Reject.Code] = [:]
  for reject in fast.rejects {
    let number = reject.position.record ?? 0
    rejects[number] = reject.code
    // Of two faults in one record either may be told.
    if reject.code == .invalidUTF8 && oracle.rejects[number] == .jsonSyntax { rejects[number] = .jsonSyntax }
  }
  if rejects != oracle.rejects { return "rejects \(rejects) instead of \(oracle.rejects)" }
  let duplicates = fast.warnings.entries.filter { $0.code == .duplicateKey || $0.code == .columnCollision }
    .reduce(0) { $0 + $1.count }
  if duplicates != oracle.duplicateCount {
    return "\(duplicates) duplicate keys instead of \(oracle.duplicateCount)"
  }
  return nil
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
