/// What kind of server it is, by what `version()` says: other numbers are made up to please clients.
package enum ServerFamily: Sendable, Equatable {
  /// PostgreSQL, and what is built of it: Aurora, Neon, AlloyDB, through poolers too.
  case postgreSQL
  case citus
  case cockroachDB
  case yugabyteDB
  /// A server that speaks the protocol, and cannot do what a load needs.
  case refused(name: String, reason: String)

  /// - Parameters:
  ///   - version: the text of `version()`.
  ///   - host: where the server is: a service may say the version of another.
  package init(version: String, host: String = "") {
    if version.hasPrefix("CockroachDB") {
      self = .cockroachDB
    } else if version.contains("-YB-") {
      self = .yugabyteDB
    } else if host.contains(".dsql."), host.hasSuffix(".on.aws") {
      self = Self.unfit[0]
    } else if let name = Self.unfit.first(where: { version.contains($0.name) }) {
      self = name
    } else if !version.hasPrefix("PostgreSQL") && !version.hasPrefix("EnterpriseDB") {
      let name = version.prefix { $0 != " " && $0 != "," }
      self = .refused(name: String(name), reason: "it is not known here")
    } else {
      self = .postgreSQL
    }
  }

  package var name: String {
    switch self {
    case .postgreSQL: "PostgreSQL"
    case .citus: "Citus"
    case .cockroachDB: "CockroachDB"
    case .yugabyteDB: "YugabyteDB"
    case .refused(let name, _): name
    }
  }

  /// Whether tables that are made in a transaction go away with it. CockroachDB commits the transaction before DDL, and
  /// YugabyteDB has a fault in ON COMMIT DROP.
  package var keepsDDLInTransactions: Bool {
    switch self {
    case .postgreSQL, .citus: true
    case .cockroachDB, .yugabyteDB, .refused: false
    }
  }

  /// Whether a constraint can wait for the end of the transaction, and SET CONSTRAINTS ends the wait. CockroachDB knows neither.
  package var defersConstraints: Bool { self != .cockroachDB }

  /// Whether `pg_postmaster_start_time` distinguishes a server from the one that takes over. CockroachDB loses no commits.
  package var saysWhenItStarted: Bool { self != .cockroachDB }

  private static let unfit: [ServerFamily] = [
    .refused(name: "Aurora DSQL", reason: "it has no COPY, no temporary tables and no savepoints"),
    .refused(name: "Redshift", reason: "it has no COPY FROM STDIN, and its keys are not enforced"),
    .refused(name: "Materialize", reason: "it has no ON CONFLICT, and no transactions of reads and writes"),
    .refused(name: "QuestDB", reason: "it has no ON CONFLICT, no savepoints and no UPDATE in a transaction"),
    .refused(name: "RisingWave", reason: "it has no transactions of reads and writes"),
    .refused(name: "Greenplum", reason: "it is built of a PostgreSQL before 13"),
    .refused(name: "CrateDB", reason: "it has no transactions"),
  ]
}
