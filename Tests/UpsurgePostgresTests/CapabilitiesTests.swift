import PostgresSupport
import Testing

@testable import UpsurgePostgres

@Suite("Capabilities")
struct CapabilitiesTests {
  @Test(
    "The family is what version() says",
    arguments: [
      ("PostgreSQL 15.20 (Debian 15.20-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc", ServerFamily.postgreSQL),
      ("PostgreSQL 17.4 on aarch64-unknown-linux-gnu, compiled by clang", .postgreSQL),
      ("CockroachDB CCL v25.1.2 (x86_64-pc-linux-gnu, built 2025/03/11)", .cockroachDB),
      ("PostgreSQL 15.12-YB-2.27.0.0-b409 on x86_64-pc-linux-gnu", .yugabyteDB),
    ])
  func families(version: String, family: ServerFamily) { #expect(ServerFamily(version: version) == family) }

  @Test(
    "Servers that cannot take a load are refused by name",
    arguments: [
      ("PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC gcc, Redshift 1.0.1", "", "Redshift"),
      ("PostgreSQL 9.5.0 on x86_64-unknown-linux-gnu (Materialize v0.130.0)", "", "Materialize"),
      ("PostgreSQL 12.3, compiled by Visual C++ build 1914, 64-bit, QuestDB", "", "QuestDB"),
      ("PostgreSQL 13.14.0-RisingWave-2.3.0 (abc)", "", "RisingWave"),
      ("PostgreSQL 16.9", "abcd.dsql.us-east-1.on.aws", "Aurora DSQL"),
      ("NewThing 1.0, of its own", "", "NewThing"),
    ])
  func refused(version: String, host: String, name: String) {
    guard case .refused(name, let reason) = ServerFamily(version: version, host: host) else {
      Issue.record("\(ServerFamily(version: version, host: host))")
      return
    }
    #expect(!reason.isEmpty)
  }

  @Test("A server of PostgreSQL", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
  func own() throws {
    let connection = try Server.database()
    let found = try Capabilities(of: connection)
    #expect(found.family == .postgreSQL && found.refusal == nil)
    #expect(found.versionNumber / 10000 == connection.versionNumber / 10000)
    #expect(found.hasTemporaryTables && found.hasXmax && found.hasSavepoints && found.nameByteLimit == 63)
    #expect(!connection.isInTransaction)
    #expect(try connection.texts("SELECT count(*) FROM pg_class WHERE relname = 'upsurge_probe'") == [["0"]])
  }

  @Test(
    "A role without temporary tables, and one that only reads",
    .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
  func rights() throws {
    let connection = try Server.database()
    let database = connection.database
    try connection.run(
      """
      REVOKE TEMPORARY ON DATABASE \(database) FROM PUBLIC; CREATE ROLE plain_\(database) LOGIN;
      CREATE ROLE reader_\(database) LOGIN; ALTER ROLE reader_\(database) SET default_transaction_read_only = on
      """)
    let server = try PostgresServer.shared()
    let plain = try Capabilities(of: Server.connect(server.socketURL(database: database, user: "plain_\(database)")))
    #expect(!plain.hasTemporaryTables && plain.hasXmax && plain.hasSavepoints && plain.refusal == nil)
    let reader = try Capabilities(of: Server.connect(server.socketURL(database: database, user: "reader_\(database)")))
    #expect(reader.isReadOnly && reader.refusal != nil)
  }

  @Test(
    "Each SQLSTATE has what can be done about it",
    arguments: [
      ("40001", FailureClass.retryTransaction), ("40P01", .retryTransaction), ("55P03", .retryTransaction),
      ("08006", .connectionLost), ("57P01", .connectionLost), ("53300", .connectionLost), ("40003", .outcomeUnknown),
      ("08007", .outcomeUnknown), ("57014", .timedOut), ("25006", .readOnly), ("22P02", .record), ("23505", .record), ("44000", .record),
      ("P0001", .record), ("42501", .privilege), ("42P01", .schemaChanged), ("0A000", .schemaChanged), ("53100", .resources),
      ("58030", .resources), ("28P01", .refused), ("3D000", .refused), ("42601", .other), ("XX000", .other),
    ])
  func classes(state: String, kind: FailureClass) { #expect(FailureClass(sqlState: state) == kind) }
}
