import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgePostgres

/// Loads as the command makes them, on a real server.
@Suite("Loads into PostgreSQL", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct PostgresLoadTests {
  let scratch = Scratch()
  let server: PostgresServer
  let url: String

  init() throws {
    PostgresStores.register()
    server = try PostgresServer.shared()
    url = try server.freshDatabase()
  }

  private func load(
    _ text: String, _ name: String = "feed.csv", table: String = "t", key: [String] = ["id"], _ change: (inout LoadOptions) -> Void = { _ in }
  ) -> RunSummary {
    var options = LoadOptions()
    options.rules.key = key
    change(&options)
    return LoadJob(database: url, table: table, sources: [scratch.write(text, to: name)], options: options).run()
  }

  private func rows(_ sql: String) throws -> [String] { try server.rows(sql, in: url) }

  @Test("A new table has types that lose nothing, its key, and the name that was asked for")
  func newTable() throws {
    let summary = load("id,n,r,day,code\n1,5,2.5,2024-01-31,007\n2,,-0.25,,x\n")
    #expect(summary.error == nil && summary.ledger.inserted == 2)
    #expect(try rows("SELECT * FROM t ORDER BY id") == ["1|5|2.5|'2024-01-31'|'007'", "2|NULL|-0.25|NULL|'x'"])
    #expect(
      try rows("SELECT string_agg(format_type(atttypid, atttypmod), ', ' ORDER BY attnum) AS t FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0")
        == ["'bigint, bigint, double precision, text, text'"])
    #expect(try rows("SELECT pg_get_constraintdef(oid) AS c FROM pg_constraint WHERE conrelid = 't'::regclass AND contype <> 'n'") == ["'PRIMARY KEY (id)'"])
    #expect(try rows("SELECT count(*) AS n FROM pg_class WHERE relname LIKE 'upsurge_new%'") == ["0"])
    #expect(try rows("SELECT count(*) AS n FROM upsurge_runs") == ["0"], "nothing of a run is left that has ended")
  }

  @Test("The same rows again change nothing, and write nothing")
  func unchanged() throws {
    let text = "id,v\n" + (1...20_000).map { "\($0),v\($0)\n" }.joined()
    #expect(load(text).ledger.inserted == 20_000)
    let before = try server.psql("SELECT pg_stat_get_tuples_updated('t'::regclass), relpages FROM pg_class WHERE relname = 't'", in: url)
    let again = load(text)
    #expect(again.error == nil && again.ledger.unchanged == 20_000 && again.ledger.updated == 0)
    #expect(try server.psql("SELECT pg_stat_get_tuples_updated('t'::regclass), relpages FROM pg_class WHERE relname = 't'", in: url) == before)
    let changed = load(text.replacing("\n7,v7\n", with: "\n7,seven\n") + "20001,new\n")
    #expect(changed.ledger.updated == 1 && changed.ledger.inserted == 1 && changed.ledger.unchanged == 19_999)
  }

  @Test("A key that comes twice in a new table is stored as one by one, from a file and from a pipe", arguments: [true, false])
  func keyComesTwice(isFile: Bool) throws {
    let text = "id,v\n1,a\n2,b\n1,c\n3,d\n1,c\n"
    let path = scratch.write(text, to: "feed.csv")
    var options = LoadOptions()
    options.rules.key = ["id"]
    let source = isFile ? path : "exec:cat \(path)"
    let summary = LoadJob(database: url, table: "t", sources: [source], options: options).run()
    #expect(summary.error == nil)
    #expect(summary.ledger.inserted == 3 && summary.ledger.updated == 1 && summary.ledger.unchanged == 1)
    #expect(try rows("SELECT * FROM t ORDER BY id") == ["1|'c'", "2|'b'", "3|'d'"])
  }

  @Test("A bad record ends the run, and the corrected file resumes after what is committed")
  func stopsAndResumes() throws {
    try server.psql("CREATE TABLE t (id bigint PRIMARY KEY, n int CHECK (n < 1000))", in: url)
    let good = "id,n\n" + (1...500).map { "\($0),\($0 % 900)\n" }.joined()
    let bad = load(good + "501,5000\n502,1\n") { $0.transaction.commitEvery = 100 }
    #expect(bad.error?.code == .badInput && bad.error?.message.contains("23514") == true)
    #expect(bad.progress.committedCount == 500 && bad.error?.position?.record == 501)
    let again = load(good + "501,5000\n502,1\n") {
      ($0.transaction.commitEvery, $0.rejects.onError) = (100, .reject)
    }
    #expect(again.error == nil && again.progress.resumedCount == 500)
    #expect(again.ledger.inserted == 501 && again.ledger.rejected == 1)
    #expect(try rows("SELECT count(*) AS n FROM t") == ["501"])
  }

  @Test("A load of several files that ended in a later one resumes there; one of a pipe does not say so", arguments: [true, false])
  func resumesInLaterFile(isFile: Bool) throws {
    // Without a key nothing may be stored twice.
    try server.psql("CREATE TABLE t (id bigint, n int CHECK (n < 1000))", in: url)
    let first = scratch.write("id,n\n" + (1...300).map { "\($0),1\n" }.joined(), to: "first.csv")
    let second = scratch.write("id,n\n" + (301...500).map { "\($0),1\n" }.joined() + "501,5000\n502,1\n", to: "second.csv")
    var options = LoadOptions()
    (options.rules.mode, options.transaction.commitEvery) = (.insert, 100)
    let sources = [first, isFile ? second : "exec:cat \(second)"]
    let ended = LoadJob(database: url, table: "t", sources: sources, options: options).run()
    #expect(ended.error?.code == .badInput && ended.progress.committedCount == 500)
    #expect(ended.progress.isResumable == isFile)
    options.rejects.onError = .reject
    let again = LoadJob(database: url, table: "t", sources: sources, options: options).run()
    if isFile {
      #expect(again.error == nil && again.progress.resumedCount == 500 && again.ledger.inserted == 501)
      #expect(try rows("SELECT count(*) AS n FROM t") == ["501"])
    } else {
      #expect(again.error?.code == .guardRefused)
    }
  }

  @Test("Rejects have their place, the constraint and what the server says")
  func rejects() throws {
    try server.psql(
      "CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL, day date, c text CONSTRAINT short CHECK (length(c) < 4))", in: url)
    let file = scratch.file("bad.ndjson")
    let summary = load("id,n,day,c\n1,1,2024-02-29,a\n2,x,,\n3,,,\n4,4,2023-02-29,\n5,5,,longer\n6,99999999999,,\n7,7,,ok\n") {
      ($0.rejects.onError, $0.rejects.path) = (.reject, file)
    }
    #expect(summary.ledger.inserted == 2 && summary.ledger.rejected == 5)
    let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").dropFirst()
    let states = lines.map { line in ["22P02", "23502", "22008", "23514", "22003"].first { line.contains($0) } ?? "" }
    #expect(states == ["22P02", "23502", "22008", "23514", "22003"])
    #expect(lines.dropFirst().first?.contains("\"not-null\"") == true, "a NULL is found before the server is asked")
    #expect(lines.last.map { $0.contains("\"line\":7") } == true)
    #expect(lines.contains { $0.contains("short") })
  }

  @Test("One transaction for all leaves nothing behind where a record is bad")
  func atomic() throws {
    let bad = load("id,n\n1,1\n2,2\n1,x,y\n") { $0.transaction.isAtomic = true }
    #expect(bad.error?.code == .badInput)
    #expect(try rows("SELECT to_regclass('t') IS NULL AS n") == ["true"])
    let good = load("id,n\n1,1\n2,2\n") { $0.transaction.isAtomic = true }
    #expect(good.error == nil && good.ledger.inserted == 2)
    #expect(try rows("SELECT * FROM t ORDER BY id") == ["1|1", "2|2"])
  }

  @Test("A dry run has the ledger of the load and leaves nothing", arguments: [true, false])
  func dryRun(isThere: Bool) throws {
    if isThere { try server.psql("CREATE TABLE t (id bigint PRIMARY KEY, n bigint); INSERT INTO t VALUES (1, 1), (2, 5)", in: url) }
    let text = "id,n\n1,1\n2,2\n3,3\n3,4\n"
    let tried = load(text) { $0.output.dryRun = .count }
    #expect(tried.error == nil)
    #expect(try rows("SELECT count(*) AS n FROM pg_class WHERE relname LIKE 'upsurge%' OR relname = 't'") == [isThere ? "1" : "0"])
    let real = load(text)
    #expect(tried.ledger == real.ledger)
  }

  @Test("Rules of merging are those of SQLite")
  func merging() throws {
    try server.psql("CREATE TABLE t (id bigint PRIMARY KEY, n bigint, name text, at bigint)", in: url)
    #expect(load("id,n,name,at\n1,10,a,5\n2,20,b,5\n").ledger.inserted == 2)
    let summary = load("id,n,name,at\n1,5,,6\n2,7,z,4\n1,1,y,6\n") {
      $0.rules.merge = Merge(.coalesce)
      $0.rules.merge.columns = ["n": .sum]
      $0.rules.merge.newer = Merge.Newer(column: "at")
    }
    #expect(summary.error == nil && summary.ledger.updated == 2 && summary.ledger.stale == 1)
    #expect(try rows("SELECT * FROM t ORDER BY id") == ["1|16|'y'|6", "2|20|'b'|5"])
  }

  @Test("Backends that are ended at any time lose nothing and store nothing twice")
  func backendsEnd() throws {
    try server.psql("CREATE TABLE t (id bigint PRIMARY KEY, n bigint)", in: url)
    let text = "id,n\n" + (0..<40_000).map { "\($0 % 9_000),1\n" }.joined()
    let adminURL = server.socketURL()
    let database = url.split(separator: "/")[1].split(separator: "?")[0]
    let isDone = Guarded(false)
    let killer = try WorkerThread {
      guard let admin = try? Server.connect(adminURL) else { return }
      while !isDone.withLock({ $0 }) {
        _ = try? admin.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(database)' AND application_name = 'upsurge'")
        usleep(UInt32.random(in: 100_000...700_000))
      }
    }
    let summary = load(text) {
      $0.rules.merge.columns = ["n": .sum]
      $0.transaction.commitEvery = 2_000
      $0.tuning.batchSizes.recordCount = 1_000
    }
    isDone.withLock { $0 = true }
    killer.join()
    #expect(summary.error == nil, "\(summary.error.map { "\($0)" } ?? "")")
    #expect(summary.ledger.read == 40_000 && summary.ledger.inserted == 9_000 && summary.ledger.updated == 31_000)
    #expect(try rows("SELECT sum(n) AS n, count(*) AS c FROM t") == ["40000|9000"])
  }

  @Test("Statements that take long after the end of the input are waited for")
  func slowEnd() throws {
    try server.psql(
      """
      CREATE TABLE t (id bigint PRIMARY KEY, n bigint);
      CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.4); RETURN NULL; END $$;
      CREATE TRIGGER slow AFTER INSERT ON t FOR EACH STATEMENT EXECUTE FUNCTION slow()
      """, in: url)
    let summary = load("id,n\n1,1\n2,2\n")
    #expect(summary.error == nil && summary.ledger.inserted == 2)
  }

  @Test("A run that is told to end stops its statement on the server, and resumes after what is committed")
  func interrupted() throws {
    try server.psql(
      """
      CREATE TABLE t (id bigint PRIMARY KEY, n bigint);
      CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(CASE WHEN NEW.id = 250 THEN 60 ELSE 0 END); RETURN NEW; END $$;
      CREATE TRIGGER slow BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION slow()
      """, in: url)
    let text = "id,n\n" + (1...300).map { "\($0),1\n" }.joined()
    var options = LoadOptions()
    (options.rules.key, options.transaction.commitEvery) = (["id"], 100)
    options.tuning.batchSizes.recordCount = 100
    let job = LoadJob(database: url, table: "t", sources: [scratch.write(text, to: "feed.csv")], options: options)
    let control = RunControl()
    let ended = job.run(control: control, tick: { progress in if progress.records >= 200 { control.cancel(signal: SIGINT) } })
    #expect(ended.signal == SIGINT && ended.progress.committedCount == 200)
    #expect(try rows("SELECT count(*) AS n FROM t") == ["200"])
    try server.psql("DROP TRIGGER slow ON t", in: url)
    let again = job.run()
    #expect(again.error == nil && again.progress.resumedCount == 200 && again.ledger.inserted == 300)
  }

  @Test("A whole number that would become another one is rejected, as the server would")
  func numbers() throws {
    try server.psql("CREATE TABLE t (id bigint PRIMARY KEY, n bigint, f double precision)", in: url)
    let summary = load("id,n,f\n1,-9223372036854775809,1\n2,9007199254740993.0,1\n4,9223372036854775807,-1e308\n5,2.0,Infinity\n") {
      $0.rejects.onError = .reject
    }
    #expect(summary.ledger.rejected == 2 && summary.ledger.inserted == 2)
    #expect(try rows("SELECT id, n FROM t ORDER BY id") == ["4|9223372036854775807", "5|2"])
  }

  @Test("Columns that appear later are added to a new table, and to one that is there where that is allowed")
  func newColumns() throws {
    let text = "{\"id\":1,\"a\":1}\n{\"id\":2,\"b\":\"x\"}\n" + (3...5_000).map { "{\"id\":\($0),\"a\":\($0)}\n" }.joined() + "{\"id\":5001,\"late\":2.5}\n"
    let summary = load(text, "feed.ndjson") { $0.tuning.batchSizes.recordCount = 100 }
    #expect(summary.error == nil && summary.ledger.inserted == 5_001)
    #expect(try rows("SELECT * FROM t WHERE id IN (2, 5001) ORDER BY id") == ["2|NULL|'x'|NULL", "5001|NULL|NULL|2.5"])
    let frozen = load("id,more\n1,2\n")
    #expect(frozen.error?.code == .guardRefused)
    let evolved = load("id,more\n1,2\n") { $0.table.contract = .evolve }
    #expect(evolved.error == nil && evolved.ledger.updated == 1)
    #expect(try rows("SELECT id, a, more FROM t WHERE id = 1") == ["1|1|2"])
  }

  @Test("Deletes by a mark, by mode, and updates without new rows")
  func deletes() throws {
    #expect(load("id,v\n1,a\n2,b\n3,c\n").ledger.inserted == 3)
    let marked = load("id,v,gone\n1,z,0\n2,,1\n9,,1\n4,d,0\n") { $0.rules.tombstone = Tombstone(column: "gone", value: "1") }
    #expect(marked.error == nil)
    #expect(marked.ledger.updated == 1 && marked.ledger.deleted == 1 && marked.ledger.ignored == 1 && marked.ledger.inserted == 1)
    let updated = load("id,v\n1,q\n77,n\n3,c\n") { $0.rules.mode = .update }
    #expect(updated.ledger.updated == 1 && updated.ledger.ignored == 1 && updated.ledger.unchanged == 1)
    let deleted = load("id\n1\n1\n55\n") { $0.rules.mode = .delete }
    #expect(deleted.ledger.deleted == 1 && deleted.ledger.ignored == 2)
    #expect(try rows("SELECT * FROM t ORDER BY id") == ["3|'c'", "4|'d'"])
  }

  @Test("A schema is a part of the name, and the runs are kept beside the table")
  func schemas() throws {
    try server.psql("CREATE SCHEMA sales; CREATE TABLE sales.\"Odd.Name\" (id bigint PRIMARY KEY, \"Wert\" text)", in: url)
    #expect(load("id,Wert\n1,a\n", table: "sales.\"Odd.Name\"").ledger.inserted == 1)
    #expect(load("id,Wert\n1,a\n", table: "sales.orders").ledger.inserted == 1)
    #expect(try rows("SELECT * FROM sales.orders") == ["1|'a'"])
    #expect(try rows("SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE relname = 'upsurge_runs'") == ["'sales'"])
  }
}
