import CSQLite
import UpsurgeRecords

extension Connection {
  /// Finds out whether changes of the table need a trusted schema, by compiling one of each kind.
  package func settleTrust(of schema: TableSchema) {
    guard !schema.columns.isEmpty, let table = try? SQLName.quote(schema.name) else { return }
    let assignments = schema.columns.filter { $0.generation == .none && !$0.isHidden }.compactMap { column in
      (try? SQLName.quote(column.name)).map { "\($0) = \($0)" }
    }
    var probes = ["INSERT INTO \(table) DEFAULT VALUES", "DELETE FROM \(table)"]
    if !assignments.isEmpty { probes.append("UPDATE \(table) SET " + assignments.joined(separator: ", ")) }
    // What cannot be compiled for another reason is told when it is needed.
    for sql in probes { _ = try? prepare(sql) }
  }

  /// What a person should know of the trust that the schema was given; nil where it was given none.
  /// - Returns: the sentence, and whether it is about a part of SQLite's own that is known to be harmless.
  package func schemaTrustWords() -> (text: String, isHarmless: Bool)? {
    guard let schemaTrust else { return nil }
    var users: [String] = []
    var isHarmless = schemaTrust.isOfJSON
    if let statement = try? prepare(
      """
      SELECT type, name, sql FROM sqlite_schema
      WHERE instr(lower(sql), lower(?1)) ORDER BY type = 'view', name
      """), (try? statement.bind(schemaTrust.name, at: 1)) != nil
    {
      while (try? statement.step()) == true {
        let (type, name) = (statement.text(at: 0) ?? "", statement.text(at: 1) ?? "")
        let tokens = SQLScanner.tokens(of: statement.text(at: 2) ?? "")
        guard tokens.contains(where: { SQLName.isSame($0.text, schemaTrust.name) }) else { continue }
        if type == "table" && SQLName.isSame(name, schemaTrust.name) {
          let module = tokens.firstIndex { $0.isWord("USING") }.map {
            tokens[min($0 + 1, tokens.count - 1)].text
          }
          isHarmless = Self.harmlessModules.contains((module ?? "").lowercased())
        } else {
          users.append("\(type) \(name)")
        }
      }
    }
    let more = users.count > 3 ? " and \(users.count - 3) more" : ""
    let who = users.isEmpty ? "the schema" : users.prefix(3).joined(separator: ", ") + more
    let verb = users.count > 1 ? "use" : "uses"
    return (
      "trusted_schema is on: \(who) \(verb) the \(schemaTrust.object), which SQLite \(Self.version) calls unsafe there"
        .escapedForTerminal, isHarmless
    )
  }

  /// Modules that later versions of SQLite call innocuous themselves.
  private static let harmlessModules: Set<String> = ["fts3", "fts4", "fts5", "rtree", "rtree_i32", "geopoly"]

  /// Of the SQLite that is linked.
  package static var version: String { String(cString: sqlite3_libversion()) }
}
