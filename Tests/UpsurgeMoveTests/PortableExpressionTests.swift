import Testing

@testable import UpsurgeMove

/// Expressions in the words of the other database.
@Suite("Expressions that move") struct PortableExpressionTests {
  private static let columns: [(name: String, kind: ColumnKind)] = [
    ("a", .integer), ("State", .text), ("r", .real), ("price", .spelled), ("ok", .truth),
  ]

  private func moved(_ text: String, from origin: PortableExpression.Origin, isExact: Bool = true) -> String?
  {
    try? PortableExpression(from: origin, columns: Self.columns, isExact: isExact).result(of: text).get()
  }

  @Test(
    "Of SQLite",
    arguments: [
      ("a>=0 AND state IN ('x','y')", #""a">=0 AND "State" IN ('x','y')"#), ("a == 1", #""a" = 1"#),
      (#""state" = "new""#, #""State" = 'new'"#),
      ("[a] IS NOT NULL", #""a" IS NOT NULL"#), ("length(State) < 1.5", #"length("State") < 1.5"#),
      ("lower(state)", #"lower(("State") COLLATE "C")"#), ("'it''s'", "'it''s'"),
    ])
  func sqlite(text: String, expected: String) { #expect(moved(text, from: .sqlite) == expected) }

  @Test(
    "What means something else stays",
    arguments: [
      "state LIKE 'a%'", "state GLOB 'a*'", "a / 2", "price > 0", "ok = 1", "typeof(a) = 'integer'",
      "r || 'x'", "x'00'", "a IN (SELECT 1)",
      "substr(state, -2)", "state COLLATE NOCASE = 'a'", "CAST(a AS TEXT)", "a ->> '$.x'", "random() > 1",
    ])
  func others(text: String) { #expect(moved(text, from: .sqlite) == nil) }

  @Test(
    "Of PostgreSQL",
    arguments: [
      ("((a >= 0) AND (\"State\" = 'x'::text))", #"(("a" >= 0) AND ("State" = 'x'))"#),
      (#"("State" = ANY (ARRAY['x'::text, 'y'::text]))"#, #"("State" IN ('x', 'y'))"#),
      (
        #"(("State")::text = ANY ((ARRAY['x'::character varying, 'y'::character varying])::text[]))"#,
        #"(("State") IN ('x', 'y'))"#
      ),
      ("(r > (0)::double precision)", #"("r" > (0))"#),
    ])
  func postgres(text: String, expected: String) { #expect(moved(text, from: .postgres) == expected) }

  @Test(
    "What means something else stays there",
    arguments: ["(\"State\" ~~ 'a%'::text)", "(price > (0)::numeric)", "now()", "(a)::date"])
  func othersOfPostgres(text: String) { #expect(moved(text, from: .postgres) == nil) }

  @Test("A plain index bears letters beyond ASCII")
  func near() { #expect(moved("lower(state)", from: .sqlite, isExact: false) == #"lower("State")"#) }
}
