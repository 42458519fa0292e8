@testable import UpsurgePostgres

extension OrderedScenario {
  private static let numbers: [String?] = (0..<12).map { "\($0)" }
  private static let plain = [
    Column(name: "id", type: "int", good: numbers, bad: [nil, "x", "99999999999"]),
    Column(name: "a", type: "text", good: ["a", "b", "c"], bad: [nil]),
    Column(name: "n", type: "int", good: ["0", "1", "2", nil], bad: ["90", "1.5", ""]),
    Column(name: "p", type: "int", good: [nil, "1", "2"], bad: ["6", "7"]),
  ]
  private static let plainDDL = """
    CREATE TABLE par (id int PRIMARY KEY); INSERT INTO par SELECT generate_series(1, 5);
    CREATE TABLE t (id int PRIMARY KEY, a text NOT NULL, n int CHECK (n < 90), p int REFERENCES par
    """

  static let all: [OrderedScenario] = [
    OrderedScenario(name: "plain", ddl: plainDDL + ")", columns: plain, match: "t.id = excluded.id", keyColumns: ["id"]),
    OrderedScenario(
      name: "a second unique key", ddl: plainDDL + ", u int UNIQUE)",
      columns: plain + [Column(name: "u", type: "int", good: (0..<24).map { "\($0)" })], match: "t.id = excluded.id", keyColumns: ["id"]),
    OrderedScenario(
      name: "a numeric key", ddl: "CREATE TABLE t (id numeric PRIMARY KEY, f float8, v varchar(3))",
      columns: [
        Column(name: "id", type: "numeric", good: ["1", "1.0", "01.00", "2", "2e0", "3"], bad: ["x", nil]),
        Column(name: "f", type: "float8", good: ["0", "-0", "0.1", "1e-1", "NaN"], bad: ["1e999"]),
        Column(name: "v", type: "varchar(3)", good: ["a", "b  ", "ab"]),
      ], match: "t.id = excluded.id", keyColumns: ["id"]),
    OrderedScenario(
      name: "a collation in which a is A",
      ddl: """
        CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
        CREATE TABLE t (name text COLLATE loose PRIMARY KEY, n int)
        """,
      columns: [
        Column(name: "name", type: "text", good: ["a", "A", "b", "B", "ä"], bad: [nil]),
        Column(name: "n", type: "int", good: ["1", "2"], bad: ["x"]),
      ], match: "t.name = excluded.name", keyColumns: ["name"]),
    OrderedScenario(
      name: "an expression as the key, and a sequence",
      ddl: "CREATE TABLE t (serial serial PRIMARY KEY, name text, n int CHECK (n > 0)); CREATE UNIQUE INDEX k ON t (lower(name))",
      columns: [
        Column(name: "name", type: "text", good: ["a", "A", "b", "B", "c d"]), Column(name: "n", type: "int", good: ["1", "2"], bad: ["0"]),
      ], index: "k", match: "lower(t.name) = lower(excluded.name)", keyColumns: []),
    OrderedScenario(
      name: "partitions of another layout",
      ddl: """
        CREATE TABLE t (id int, r text, v text, PRIMARY KEY (id, r)) PARTITION BY LIST (r);
        CREATE TABLE t_a PARTITION OF t FOR VALUES IN ('a'); CREATE TABLE t_b (v text, r text NOT NULL, id int NOT NULL, PRIMARY KEY (id, r));
        ALTER TABLE t ATTACH PARTITION t_b FOR VALUES IN ('b')
        """,
      columns: [
        Column(name: "id", type: "int", good: ["1", "2", "3"], bad: [nil]), Column(name: "r", type: "text", good: ["a", "b"], bad: ["c", nil]),
        Column(name: "v", type: "text", good: ["x", "y", nil]),
      ], match: "t.id = excluded.id AND t.r = excluded.r", keyColumns: ["id", "r"]),
    OrderedScenario(
      name: "a key of some rows",
      ddl: "CREATE TABLE t (serial serial PRIMARY KEY, id int, live bool, v text); CREATE UNIQUE INDEX k ON t (id) WHERE live",
      columns: [
        Column(name: "id", type: "int", good: ["1", "2", "3"], bad: [nil]), Column(name: "live", type: "bool", good: ["t"]),
        Column(name: "v", type: "text", good: ["x", "y", nil]),
      ], index: "k", match: "t.id = excluded.id AND t.live AND excluded.live", keyColumns: ["id"]),
    OrderedScenario(
      name: "types of all kinds",
      ddl: """
        CREATE DOMAIN small AS int CHECK (VALUE < 10); CREATE TYPE mood AS ENUM ('ok', 'bad');
        CREATE TABLE t (id uuid PRIMARY KEY, j json, jb jsonb, pt point, m mood, s small, d date, c char(3), x numeric(4,1),
          twice int GENERATED ALWAYS AS (s * 2) STORED)
        """,
      columns: [
        Column(
          name: "id", type: "uuid", good: ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "A0EEBC999C0B4EF8BB6D6BB9BD380A11", "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12}"],
          bad: ["a0ee"]),
        Column(name: "j", type: "json", good: ["{}", "{ }", nil], bad: ["{"]),
        Column(name: "jb", type: "jsonb", good: ["{\"a\":1}", "{\"a\": 1}"], bad: ["[1", "\"\\u0000\""]),
        Column(name: "pt", type: "point", good: ["(1,2)", "1,2", nil], bad: ["p"]),
        Column(name: "m", type: "mood", good: ["ok", "bad"], bad: ["odd"]), Column(name: "s", type: "small", good: ["1", "2"], bad: ["11", "x"]),
        Column(name: "d", type: "date", good: ["2024-02-29", "Feb 29 2024", "20240301"], bad: ["2023-02-29", "Feb 30 2024"]),
        Column(name: "c", type: "char(3)", good: ["a", "a  ", "abc"]), Column(name: "x", type: "numeric(4,1)", good: ["1.04", "1.0", "999.9"], bad: ["999.96"]),
      ], match: "t.id = excluded.id", keyColumns: ["id"]),
    OrderedScenario(
      name: "SQL of one's own, and a condition", ddl: "CREATE TABLE t (id int PRIMARY KEY, a text, n int, at date)",
      columns: [
        Column(name: "id", type: "int", good: ["1", "2", "3", "4"]), Column(name: "a", type: "text", good: ["x", "y", nil]),
        Column(name: "n", type: "int", good: ["0", "1", "2"]), Column(name: "at", type: "date", good: ["2024-01-01", "2024-01-02", "2024-01-03", nil]),
      ], match: "t.id = excluded.id",
      rules: OrderedRules(
        changes: ["a": .expression("coalesce(a, excluded.a)"), "n": .expression("n + excluded.n")], condition: "excluded.at >= at"),
      expressions: ["a": "coalesce(t.a, excluded.a)", "n": "t.n + excluded.n"], condition: "excluded.at >= t.at", keyColumns: ["id"]),
    OrderedScenario(
      name: "a trigger that leaves out rows",
      ddl: plainDDL + """
        ); CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.n = 2 THEN RETURN NULL; END IF; RETURN NEW; END $$;
        CREATE TRIGGER tr BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION f()
        """, columns: plain, match: "t.id = excluded.id", keyColumns: ["id"]),
    OrderedScenario(
      name: "a foreign key that is checked at the end",
      ddl: plainDDL.replacing("REFERENCES par", with: "REFERENCES par DEFERRABLE INITIALLY DEFERRED") + ")", columns: plain,
      match: "t.id = excluded.id", keyColumns: ["id"]),
    OrderedScenario(
      name: "an identity that takes values", ddl: "CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v text)",
      columns: [Column(name: "id", type: "int", good: ["1", "2", "3"]), Column(name: "v", type: "text", good: ["x", "y"])],
      match: "t.id = excluded.id", rules: identity, keyColumns: ["id"]),
  ]

  private static var identity: OrderedRules {
    var rules = OrderedRules()
    rules.overridesIdentity = true
    return rules
  }
}
