import SQLiteSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePlan

/// One way a record can fail, with the statement form it must be found in.
struct PinCase: CustomTestStringConvertible, Sendable {
  var name: String
  var form: StatementForm
  var table: String
  var key: [String] = []
  var mode: WriteMode
  /// The row that fails; the others are `[number, 'x']`.
  var bad: [Value]
  var reject: String

  var testDescription: String { name }

  static let all: [PinCase] = [
    PinCase(
      name: "unique, plain insert", form: .manyRowsOrFail,
      table: "CREATE TABLE t(k UNIQUE, v); INSERT INTO t VALUES(-1, 'old')",
      mode: .insert, bad: [-1, "y"], reject: "unique k: table t has a row with this UNIQUE (k)"),
    PinCase(
      name: "two unique keys, plain insert", form: .manyRowsOrFail,
      table: "CREATE TABLE t(k INTEGER PRIMARY KEY, v, UNIQUE (v, k)); INSERT INTO t VALUES(-1, 'old')",
      mode: .insert, bad: [-1, "y"], reject: "unique k: table t has a row with this PRIMARY KEY (k)"),
    PinCase(
      name: "check, plain insert", form: .manyRowsOrFail,
      table: "CREATE TABLE t(k UNIQUE, v CHECK (v <> 'bad'))",
      mode: .insert, bad: [-1, "bad"], reject: "check -: the record breaks the CHECK of table t: v <> 'bad'"),
    PinCase(
      name: "check, upsert by rowid", form: .manyRowsOrAbort,
      table: "CREATE TABLE t(k INTEGER PRIMARY KEY, v, CONSTRAINT good CHECK (v <> 'bad'))",
      mode: .upsert, bad: [-1, "bad"], reject: "check -: the record breaks the CHECK of table t: good"),
    PinCase(
      name: "STRICT, no key", form: .manyRowsOrFail, table: "CREATE TABLE t(k INTEGER, v TEXT) STRICT",
      mode: .insert, bad: ["many", "y"],
      reject: "type-mismatch k: table t is STRICT: cannot store TEXT value in INTEGER column t.k"),
    PinCase(
      name: "STRICT, upsert", form: .manyRowsOrFail,
      table: "CREATE TABLE t(k INT PRIMARY KEY, v TEXT) STRICT",
      mode: .upsert, bad: ["many", "y"],
      reject: "type-mismatch k: table t is STRICT: cannot store TEXT value in INT column t.k"),
    PinCase(
      name: "foreign key", form: .manyRowsOrAbort,
      table:
        "CREATE TABLE p(id PRIMARY KEY); INSERT INTO p VALUES('x'); CREATE TABLE t(k INTEGER PRIMARY KEY, v REFERENCES p(id))",
      mode: .insert, bad: [nil, "none"],
      reject: "foreign-key v: the record breaks a foreign key of table t: (v) to p (id)"),
    PinCase(
      name: "NOT NULL, upsert by rowid", form: .manyRowsOrFail,
      table: "CREATE TABLE t(k INTEGER PRIMARY KEY, v NOT NULL)",
      mode: .upsert, bad: [-1, nil],
      reject: "not-null v: column v of table t is NOT NULL and the record has no value for it"),
    PinCase(
      name: "NOT NULL, upsert", form: .singleRow, table: "CREATE TABLE t(k PRIMARY KEY, v NOT NULL)",
      mode: .upsert, bad: [-1, nil],
      reject: "not-null v: column v of table t is NOT NULL and the record has no value for it"),
    PinCase(
      name: "NULL key, upsert", form: .manyRowsOrFail, table: "CREATE TABLE t(k PRIMARY KEY, v)",
      mode: .upsert,
      bad: [nil, "y"], reject: "null-key k: the key column k is NULL, so the record matches no row"),
    PinCase(
      name: "text as rowid, upsert", form: .manyRowsOrFail, table: "CREATE TABLE t(k INTEGER PRIMARY KEY, v)",
      mode: .upsert, bad: ["one", "y"],
      reject: "type-mismatch k: column k of table t is its INTEGER PRIMARY KEY and takes integers only"),
    PinCase(
      name: "second unique key, upsert", form: .singleRow,
      table:
        "CREATE TABLE t(k INTEGER PRIMARY KEY, v); INSERT INTO t VALUES(-2, 'y'); CREATE UNIQUE INDEX u ON t(v) WHERE v = 'y'",
      mode: .upsert, bad: [-1, "y"],
      reject: "unique v: another row of table t has this UNIQUE (v) WHERE v = 'y'; "
        + "records are matched by PRIMARY KEY (k)"),
    PinCase(
      name: "trigger", form: .singleRow,
      table:
        "CREATE TABLE t(k INTEGER PRIMARY KEY, v); CREATE TRIGGER g BEFORE INSERT ON t WHEN new.v = 'bad' "
        + "BEGIN SELECT RAISE(ABORT, 'not this one'); END",
      mode: .upsert, bad: [-1, "bad"], reject: "trigger -: a trigger refused the record: not this one"),
    PinCase(
      name: "expression index", form: .singleRow,
      table: "CREATE TABLE t(k, v); CREATE INDEX j ON t(json_extract(v, '$.a'))",
      mode: .insert, bad: [-1, "{"],
      reject: "expression -: an expression of table t failed on the record: malformed JSON"),
    PinCase(
      name: "check that may raise", form: .singleRow,
      table: "CREATE TABLE t(k, v CHECK (json_extract(v, '$.a') IS NULL))",
      mode: .insert, bad: [-1, "{"],
      reject: "expression -: an expression of table t failed on the record: malformed JSON"),
  ]
}

@Suite struct PinningTests {
  /// Good rows: a `v` that every table takes. JSON tables need JSON.
  private func good(_ number: Int, _ example: PinCase) -> [Value] {
    [.integer(Int64(number)), example.table.contains("json") ? "{}" : "x"]
  }

  @Test(arguments: PinCase.all) func findsTheRecord(_ example: PinCase) throws {
    let places: [Set<Int>] = [
      [0], [1], [2], [31], [32], [63], [64], [65], [69], [0, 1, 69], [5, 6, 7, 64], Set(0..<70), Set(10..<60),
    ]
    for (at, place) in places.enumerated() {
      for rowsPerStatement in [1, 3, 64] {
        let rows = (0..<70).map { place.contains($0) ? example.bad : good($0, example) }
        let database = TemporaryDatabase()
        let connection = try database.open(example.table)
        let before = try connection.integer("SELECT count(*) FROM t") ?? 0
        let (writer, rejects) = try load(
          connection, "t", ["k", "v"], rows, key: example.key, mode: example.mode,
          cut: Cut(batchSize: at % 2 == 0 ? 70 : 33, rowsPerStatement: rowsPerStatement))
        #expect(writer.plan.form == example.form)
        #expect(rejects.map(\.line) == place.sorted().map { "\($0 + 1) \(example.reject)" })
        #expect(writer.ledger.text == ledger(inserted: 70 - place.count, rejected: place.count))
        #expect(try connection.integer("SELECT count(*) FROM t") == before + Int64(70 - place.count))
        #expect(
          try connection.rows("SELECT k FROM t WHERE k >= 0 ORDER BY rowid")
            == (0..<70).filter { !place.contains($0) }.map { [.integer(Int64($0))] })
        for reject in rejects {
          let raw = example.bad.map { value in
            switch value {
            case .integer(let number): "\(number)"
            case .text(let text): text
            default: ""
            }
          }.joined(separator: ",")
          #expect(String(decoding: reject.raw, as: UTF8.self) == raw)
          #expect(reject.position.line == (reject.position.record ?? 0) + 1)
          #expect(reject.position.file == "in.csv")
        }
      }
    }
  }

  private func ledger(inserted: Int, rejected: Int) -> String {
    let words = ["read 70", inserted > 0 ? "inserted \(inserted)" : "", "rejected \(rejected)"]
    return words.filter { !$0.isEmpty }.joined(separator: " ")
  }

  @Test func aRecordBeyondSQLitesLengthLimitIsARejectOfItsOwn() throws {
    let database = TemporaryDatabase()
    let connection = try database.open("CREATE TABLE t(k INTEGER PRIMARY KEY, v)")
    _ = setLimit(connection, length: 1000)
    let rows = (0..<70).map {
      [Value.integer(Int64($0)), .text(String(repeating: "x", count: $0 == 40 ? 1001 : $0 == 41 ? 900 : 1))]
    }
    let (writer, rejects) = try load(connection, "t", ["k", "v"], rows, mode: .upsert)
    #expect(rejects.map(\.line) == ["41 too-large -: the record is larger than SQLite takes"])
    #expect(writer.ledger.text == "read 70 inserted 69 rejected 1")
  }

  /// A statement's foreign keys are looked at when it ends; a later row must not heal an earlier one.
  @Test(arguments: [WriteMode.upsert, .insert]) func aLaterRowHealsNoBrokenForeignKey(
    _ mode: WriteMode
  ) throws {
    let database = TemporaryDatabase()
    let connection = try database.open("CREATE TABLE t(k INTEGER PRIMARY KEY, p REFERENCES t(k))")
    let rows: [[Value]] =
      mode == .upsert ? [[1, 9], [1, nil], [2, 1], [9, 9]] : [[1, 2], [2, nil], [3, 2], [4, 4]]
    let (writer, rejects) = try load(connection, "t", ["k", "p"], rows, mode: mode)
    #expect(
      rejects.map(\.line) == ["1 foreign-key p: the record breaks a foreign key of table t: (p) to t (k)"])
    #expect(writer.ledger.text == "read 4 inserted 3 rejected 1")
  }

  @Test func stopNamesTheRecordAndTheFix() throws {
    let database = TemporaryDatabase()
    let connection = try database.open("CREATE TABLE t(k PRIMARY KEY, v)")
    do throws(UpsurgeError) {
      _ = try load(connection, "t", ["k", "v"], [[1, 1], [2, 2], [1, 3]], mode: .insert, onError: .stop)
      Issue.record("the duplicate was taken")
    } catch {
      #expect(
        error.description == """
          table t has a row with this PRIMARY KEY (k) [unique] (column k)
            at in.csv, line 4, record 3, byte 8
            here: 1,3
            fix: --mode upsert updates that row, --mode ignore leaves it as it is
          """)
      #expect(error.code == .badInput)
    }
    #expect(try connection.integer("SELECT count(*) FROM t") == 0)
  }
}
