import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge

@testable import UpsurgePostgres

/// Values that the input writes in its own way, in columns of a server.
@Suite(
  "Formats of values into PostgreSQL",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct PostgresValueTests {
  let scratch = Scratch()
  let server: PostgresServer
  let url: String

  init() throws {
    PostgresStores.register()
    server = try PostgresServer.shared()
    url = try server.freshDatabase()
  }

  private func load(
    _ text: String, _ name: String = "feed.csv", _ change: (inout LoadOptions) -> Void = { _ in }
  ) -> RunSummary {
    var options = LoadOptions()
    options.rules.key = ["id"]
    options.rejects.onError = .reject
    options.input.values.dates = ["day": "%d/%m/%Y", "at": "%d/%m/%Y %H:%M %z", "clock": "%I:%M %p"]
    options.input.values.decimal = .comma
    options.input.values.thousands = "."
    options.input.values.truths = ["flag": .usual]
    change(&options)
    return LoadJob(database: url, table: "t", sources: [scratch.write(text, to: name)], options: options)
      .run()
  }

  private func rows(_ sql: String) throws -> [String] { try server.rows(sql, in: url) }

  private static let text =
    "id;day;at;clock;amount;count;flag\n1;31/12/2024;1/2/2024 7:05 +0000;7:05 PM;1.234,5;1.000;ja\n2;;;;;;\n"

  @Test("A new table has the types of what comes out")
  func newTable() throws {
    let summary = load(Self.text)
    #expect(summary.error == nil && summary.ledger.inserted == 2, "\(summary.error.map(\.description) ?? "")")
    #expect(
      try rows(
        "SELECT string_agg(format_type(atttypid, atttypmod), ', ' ORDER BY attnum) AS t FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0"
      )
        == [
          "'bigint, date, timestamp with time zone, time without time zone, double precision, bigint, boolean'"
        ])
    #expect(
      try rows(
        "SELECT day::text AS day, (at = '2024-02-01 07:05+00')::text AS at, clock::text AS clock, amount::text AS amount, count::text AS n, flag::text AS flag FROM t WHERE id = 1"
      )
        == ["'2024-12-31'|'true'|'19:05:00'|'1234.5'|'1000'|'true'"])
    let again = load(Self.text)
    #expect(again.ledger.unchanged == 2 && again.ledger.updated == 0)
  }

  @Test("A table that exists takes them in columns of its types, and decimals keep their digits")
  func existing() throws {
    try server.psql(
      "CREATE TABLE t(id int PRIMARY KEY, day text, amount numeric(20,4), small real, flag text)", in: url)
    let summary = load(
      "id;day;amount;small;flag\n1;31/12/2024;1.234.567.890.123,4567;0,5;n\n2;1/13/2024;1;1;y\n3;;12.5;1;y\n4;;1;x;y\n5;;1;1;?\n"
    ) {
      $0.input.values.dates = ["day": "%d/%m/%Y"]
    }
    #expect(
      summary.error == nil && summary.ledger.inserted == 1 && summary.ledger.rejected == 4,
      "\(summary.error.map(\.description) ?? "")")
    #expect(
      try rows("SELECT day, amount::text AS amount, small::text AS small, flag FROM t") == [
        "'2024-12-31'|'1234567890123.4567'|'0.5'|'0'"
      ])
    let reasons = summary.rejectsByReason.map { "\($0.code.rawValue) \($0.count)" }.sorted()
    #expect(reasons == ["bad-bool 1", "bad-date 1", "bad-number 2"])
  }
}
