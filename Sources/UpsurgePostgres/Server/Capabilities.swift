import UpsurgeRecords

/// What a server can do, and what the user may do there. Asked when a connection is new.
package struct Capabilities: Sendable, Equatable {
  package var family: ServerFamily
  /// The text of `version()`.
  package var version: String
  /// 150020 for 15.20, as `version()` says it; 0 where that is no version of PostgreSQL.
  package var versionNumber: Int
  /// A standby, which takes no rows before it takes over.
  package var isInRecovery = false
  package var isReadOnly = false
  /// Whether a temporary table can be made, and goes away with its transaction.
  package var hasTemporaryTables = false
  /// Whether `RETURNING (xmax = 0)` distinguishes new rows from others, in tables without partitions.
  package var hasXmax = false
  package var hasSavepoints = false
  /// Names that are longer, in bytes, are cut in silence.
  package var nameByteLimit = 63
  /// `read committed`, unless the role or the database has another.
  package var defaultIsolation = "read committed"
  /// `UTF8`; others cannot hold every text.
  package var encoding = "UTF8"

  /// The least version of PostgreSQL.
  private static let leastVersion = 13

  /// Whether `pg_input_is_valid` finds bad values without an error.
  package var hasInputCheck: Bool { versionNumber >= 16_00_00 && family.keepsDDLInTransactions }
  /// Whether `transaction_timeout` is a setting.
  var hasTransactionTimeout: Bool { versionNumber >= 17_00_00 && family.keepsDDLInTransactions }
  /// Whether RETURNING knows `old` and `new`.
  package var hasReturningOld: Bool { versionNumber >= 18_00_00 && family == .postgreSQL }

  /// Why no load can go there; nil where it can.
  package var refusal: String? {
    if case .refused(let name, let reason) = family { return "upsurge does not load into \(name): \(reason)" }
    if family.keepsDDLInTransactions, versionNumber < Self.leastVersion * 10000 {
      return "upsurge needs PostgreSQL \(Self.leastVersion) or later; this is \(version.prefix { $0 != "(" && $0 != "," })"
    }
    if isReadOnly, !isInRecovery { return "transactions are read-only here (default_transaction_read_only)" }
    return nil
  }

  /// Asks the server. The probes are in a transaction that is rolled back.
  package init(of connection: PostgresConnection) throws(PostgresFailure) {
    version = try connection.run("SELECT version()", []).first?.text(0) ?? ""
    versionNumber = Self.number(in: version)
    family = ServerFamily(version: version, host: connection.host)
    if case .refused = family { return }
    try askSettings(connection)
    if refusal == nil, !isInRecovery, family.keepsDDLInTransactions { try probe(connection) }
    if !family.keepsDDLInTransactions { hasSavepoints = true }
  }

  private mutating func askSettings(_ connection: PostgresConnection) throws(PostgresFailure) {
    let result = try connection.run(
      """
      SELECT pg_catalog.pg_is_in_recovery(), current_setting('transaction_read_only') = 'on',
        current_setting('max_identifier_length'), current_setting('default_transaction_isolation'),
        current_setting('server_encoding'), EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname = 'citus')
      """, [])
    guard let row = result.first else { return }
    isInRecovery = row.flag(0) ?? false
    isReadOnly = row.flag(1) ?? false
    nameByteLimit = row.integer(2).map { Int($0) } ?? nameByteLimit
    defaultIsolation = row.text(3) ?? defaultIsolation
    encoding = row.text(4) ?? encoding
    if row.flag(5) == true, family == .postgreSQL { family = .citus }
  }

  /// Tries what rights and engines may forbid: a server says least about what it cannot do.
  private mutating func probe(_ connection: PostgresConnection) throws(PostgresFailure) {
    let steps: [(WritableKeyPath<Capabilities, Bool>, String)] = [
      (\.hasSavepoints, "SAVEPOINT upsurge_probe"),
      (\.hasTemporaryTables, "CREATE TEMPORARY TABLE upsurge_probe (id int PRIMARY KEY) ON COMMIT DROP"),
      (
        \.hasXmax,
        "INSERT INTO upsurge_probe VALUES (1) ON CONFLICT (id) DO UPDATE SET id = excluded.id RETURNING (xmax = 0)"
      ),
    ]
    try connection.run("BEGIN")
    defer { connection.rollback() }
    for (ability, sql) in steps {
      do {
        try connection.run(sql)
        self[keyPath: ability] = true
      } catch {
        // Each step needs the one before it.
        if !connection.isOpen || error.kind == .interrupted { throw error }
        break
      }
    }
    // xmax is known of real tables, whatever may not be temporary.
    if !hasTemporaryTables { hasXmax = true }
  }

  /// `PostgreSQL 15.20 (Debian …)` is 150020, `PostgreSQL 16beta1` 160000.
  private static func number(in version: String) -> Int {
    guard version.hasPrefix("PostgreSQL ") || version.hasPrefix("EnterpriseDB ") else { return 0 }
    let words = version.split { $0 == " " || $0 == "," }
    guard words.count > 1 else { return 0 }
    let parts = words[1].split { !$0.isNumber }.compactMap { Int($0) }
    let isRelease = words[1].allSatisfy { $0.isNumber || $0 == "." }
    return (parts.first ?? 0) * 10000 + (isRelease && parts.count > 1 ? parts[1] : 0)
  }
}
