import UpsurgeSQLite

/// What only the text of a CREATE TABLE says: its CHECKs, and the expressions of generated columns.
///
/// The text comes from SQLite's own schema, so it is valid. It is cut at the commas between its outer parentheses.
struct TableText {
  private(set) var checks: [String] = []
  /// By folded column name.
  private(set) var generated: [String: String] = [:]
  /// Foreign keys that are looked at when a transaction ends, each by its folded columns.
  private(set) var deferred: [[String]] = []
  private let bytes: [UInt8]

  init(_ sql: String) {
    bytes = Array(sql.utf8)
    let tokens = SQLScanner.tokens(of: sql)
    guard let start = tokens.firstIndex(where: { $0.isMark("(") }) else { return }
    var part: [SQLScanner.Token] = []
    var depth = 0
    for token in tokens[(start + 1)...] {
      if token.isMark("(") { depth += 1 }
      if token.isMark(")") { depth -= 1 }
      if depth < 0 { break }
      if depth == 0 && token.isMark(",") {
        read(part)
        part = []
      } else {
        part.append(token)
      }
    }
    read(part)
  }

  private mutating func read(_ part: [SQLScanner.Token]) {
    guard let first = part.first else { return }
    readDeferred(part)
    var depth = 0
    for (index, token) in part.enumerated() {
      if token.isMark("(") { depth += 1 }
      if token.isMark(")") { depth -= 1 }
      guard depth == 0, index + 1 < part.count, part[index + 1].isMark("(") else { continue }
      if token.isWord("CHECK"), let text = inside(part, from: index + 1) { checks.append(text) }
      if token.isWord("AS"), let text = inside(part, from: index + 1) {
        generated[SQLName.folded(first.text)] = text
      }
    }
  }

  private mutating func readDeferred(_ part: [SQLScanner.Token]) {
    let isDeferred = zip(part, part.dropFirst()).contains { $0.isWord("INITIALLY") && $1.isWord("DEFERRED") }
    guard isDeferred, let first = part.first else { return }
    guard let key = part.firstIndex(where: { $0.isWord("KEY") }),
      part[..<key].contains(where: { $0.isWord("FOREIGN") })
    else {
      return deferred.append([SQLName.folded(first.text)])
    }
    let list = part[(key + 1)...].prefix { !$0.isMark(")") }.filter {
      $0.kind == .word || $0.kind == .quotedName
    }
    deferred.append(list.map { SQLName.folded($0.text) })
  }

  /// The text between a parenthesis and the one that closes it.
  private func inside(_ part: [SQLScanner.Token], from opening: Int) -> String? {
    var depth = 0
    for token in part[opening...] {
      if token.isMark("(") { depth += 1 }
      if token.isMark(")") { depth -= 1 }
      if depth == 0 {
        return String(decoding: bytes[part[opening].range.upperBound..<token.range.lowerBound], as: UTF8.self)
      }
    }
    return nil
  }
}
