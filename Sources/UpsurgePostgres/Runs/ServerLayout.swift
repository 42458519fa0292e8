import Upsurge
import UpsurgeRecords

/// A table of Upsurge's own in a schema of a server: how it is made, and how it is known again.
///
/// The table's COMMENT says the number of its layout: `upsurge layout 1`. A dump may leave comments out, and the columns tell then.
/// A newer layout is refused by name, since nobody here knows what its rows mean.
struct ServerLayout: Sendable {
  /// What stands under the name.
  enum Look {
    case nothing
    case ours
    case refused(UpsurgeError)
  }

  private let table: OwnTable
  private let purpose: Wording
  private let columns: [String]
  /// Columns that tables of earlier versions lack, with what CREATE TABLE says of them.
  private let later: [(name: String, definition: String)]
  private let body: String
  private static let number = 1
  private static let mark = "upsurge layout "

  /// - Parameters:
  ///   - purpose: what is kept in the table, for messages.
  ///   - columns: their names and what CREATE TABLE says of them.
  ///   - later: those that tables of earlier versions lack.
  init(
    _ table: OwnTable, purpose: Wording, columns: [(name: String, definition: String)],
    later: [(name: String, definition: String)] = []
  ) {
    (self.table, self.purpose, self.later) = (table, purpose, later)
    self.columns = columns.map(\.name)
    body = (columns + later).map { "\($0.name.quotedForPostgres) \($0.definition)" }.joined(separator: ", ")
  }

  func quotedName(in schema: String) -> String {
    "\(schema.quotedForPostgres).\(table.rawValue.quotedForPostgres)"
  }

  func look(in schema: String, _ connection: PostgresConnection) throws(PostgresFailure) -> Look {
    let rows = try connection.run(
      """
      SELECT c.relkind, obj_description(c.oid, 'pg_class'), a.attname FROM pg_class c
        LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE c.oid = to_regclass($1)
      """, [.text(quotedName(in: schema))]
    ).rows
    guard let first = rows.first else { return .nothing }
    if ["v", "m"].contains(first.text(0) ?? "") { return .refused(table.refusalOfView(purpose: purpose)) }
    if let comment = first.text(1), comment.hasPrefix(Self.mark) {
      let word = String(comment.dropFirst(Self.mark.count).prefix(20))
      guard let found = Int(word), found > 0 else {
        return .refused(table.refusal(ofRubbish: word, purpose: purpose))
      }
      if found > Self.number { return .refused(table.refusal(ofLayout: found, after: Self.number)) }
    }
    let names = Set(rows.compactMap { $0.text(2) })
    if let missing = columns.first(where: { !names.contains($0) }) {
      return .refused(table.refusal(lacking: missing, purpose: purpose))
    }
    return .ours
  }

  /// Makes the table, in a separate transaction: some servers commit whatever is open before they make one.
  func make(in schema: String, _ connection: PostgresConnection) throws(PostgresFailure) {
    let name = quotedName(in: schema)
    do {
      try connection.run(
        "CREATE TABLE \(name) (\(body)); COMMENT ON TABLE \(name) IS '\(Self.mark)\(Self.number)'")
    } catch {
      // Two that make it at once: one of them fails in the catalogue, and finds it.
      guard error.sqlState == "23505" || error.sqlState == "42P07" else { throw error }
    }
  }

  /// Adds the columns that tables of earlier versions lack, where the table is this user's.
  /// - Returns: whether it has all of them then, and the user may read and change its rows.
  func complete(in schema: String, _ connection: PostgresConnection) throws(PostgresFailure) -> Bool {
    let name = quotedName(in: schema)
    let row = try connection.run(
      """
      SELECT (SELECT count(*) FROM pg_attribute WHERE attrelid = c.oid AND attname = ANY ($2::text[]) AND NOT attisdropped),
        has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'UPDATE'), pg_has_role(c.relowner, 'USAGE')
      FROM pg_class AS c WHERE c.oid = to_regclass($1)
      """, [.text(name), .text("{\(later.map(\.name).joined(separator: ","))}")]
    ).first
    guard let row, row.flag(1) == true else { return false }
    if row.integer(0) == Int64(later.count) { return true }
    if row.flag(2) != true { return false }
    let additions = later.map { "ADD COLUMN IF NOT EXISTS \($0.name.quotedForPostgres) \($0.definition)" }
    try connection.run("ALTER TABLE \(name) \(additions.joined(separator: ", "))")
    return true
  }

  /// A table of that name which may be read.
  struct Found: Sendable, Equatable {
    var schema: String
    var owner: String
    /// Whether it belongs to this user, a role of which the user is a member, the owner of the database, or a superuser. Its triggers,
    /// rules and policies run with the rights of whoever stores something in it.
    var isTrusted: Bool
  }

  /// Whose a table is; nil where it is not there, or of somebody who has this user's rights anyway.
  static func stranger(
    owning table: OwnTable, in schema: String, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> String? {
    try found(table, connection).first { $0.schema == schema && !$0.isTrusted }?.owner
  }

  /// The tables of that name that may be read, by their schemas.
  static func found(
    _ table: OwnTable, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> [Found] {
    let sql = """
      WITH RECURSIVE mine AS (SELECT oid FROM pg_roles WHERE rolname = current_user
        UNION SELECT m.roleid FROM pg_auth_members m JOIN mine ON m.member = mine.oid)
      SELECT n.nspname, pg_get_userbyid(c.relowner), c.relowner IN (SELECT oid FROM mine)
        OR c.relowner IN (SELECT oid FROM pg_roles WHERE rolsuper)
        OR c.relowner IN (SELECT datdba FROM pg_database WHERE datname = current_database())
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relname = $1 AND c.relkind = 'r' AND has_table_privilege(c.oid, 'SELECT') AND has_schema_privilege(n.oid, 'USAGE')
      ORDER BY 1
      """
    return try connection.run(sql, [.text(table.rawValue)]).rows.map { row in
      Found(schema: row.text(0) ?? "", owner: row.text(1) ?? "", isTrusted: row.flag(2) ?? false)
    }
  }
}
