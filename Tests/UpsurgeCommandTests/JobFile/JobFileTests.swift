import Foundation
import TestSupport
import Testing
import Upsurge
import UpsurgeMirror

@testable import UpsurgeCommand

/// What a job file says becomes the job.
@Suite("Job files")
struct JobFileTests {
  private func read(
    _ text: String, file: String = "jobs/job.yaml", environment: [String: String] = [:]
  ) throws -> MirrorJob {
    try JobFileReader(file: file) { environment[$0] }.read(Array(text.utf8), database: "a.db").job
  }

  private func table(_ lines: String, environment: [String: String] = [:]) throws -> MirrorTable {
    let text =
      "tables:\n  t:\n    source: a.csv\n" + lines.split(separator: "\n").map { "    \($0)\n" }.joined()
    return try #require(read(text, environment: environment).tables.first)
  }

  static let sample = """
    defaults: { on-error: reject }
    atomic: job
    tables:
      members:
        source: feed.csv           # path, glob, folder, URL, exec:, sqlite:
        key: [Symbol]
        kind: snapshot             # or delta
        sweep: hard                # none (default) | hard | { soft: COL }
        scope: "tenant = 7"
        guards:
          { max-delete: 10%, min-rows: 2, min-ratio: 0.25, allow-empty: true, expect-count: 7, line-end: any,
            trailer: "END {count}" }
        folder: { order: time, done: { move: done } }
      changes:
        source: [a.ndjson, /b/*.ndjson]
        kind: delta
        delete-when: {op: D}
    """

  @Test("All of the sample")
  func sample() throws {
    let job = try read(Self.sample)
    #expect(job.database == "a.db" && job.file == "jobs/job.yaml" && job.atomicity == .job)
    #expect(job.tables.map(\.name) == ["members", "changes"])
    let members = job.tables[0]
    #expect(members.sources == ["jobs/feed.csv"] && !members.sources[0].isReworded)
    #expect(members.options.rules.key == ["Symbol"] && members.options.rejects.onError == .reject)
    #expect(members.kind == .snapshot && members.sweep == .hard && members.scope == "tenant = 7")
    var guards = MirrorGuards()
    guards.leastRows = 2
    guards.leastRatio = 0.25
    guards.allowsEmpty = true
    guards.expectedCount = 7
    guards.needsLineEnd = false
    guards.trailer = "END {count}"
    #expect(members.guards == guards)
    var folder = DropFolder()
    folder.order = .time
    folder.done = .move(to: "jobs/done")
    #expect(members.folder == folder)
    let changes = job.tables[1]
    #expect(changes.sources == ["jobs/a.ndjson", "/b/*.ndjson"] && changes.kind == .delta)
    #expect(changes.sweep == .none && changes.guards == MirrorGuards() && changes.folder == DropFolder())
    #expect(changes.options.rules.tombstone == Tombstone(column: "op", value: "D"))
  }

  @Test("A job that says little has the defaults of a load, but for bad records")
  func defaults() throws {
    let table = try self.table("")
    var options = LoadOptions()
    options.rejects.onError = .reject
    // As every command does that was not told what becomes of NULL keys.
    options.rules.countsNumbered = true
    #expect(String(describing: table.options) == String(describing: options))
    #expect(table.kind == .snapshot && table.sweep == .none && table.headers.isEmpty)
    #expect(try read("tables: {t: {source: a}}").atomicity == .table)
  }

  @Test("Every option of the command line does the same in a job file")
  func options() throws {
    let table = try self.table(
      """
      format: csv
      compression: gzip
      delimiter: ";"
      quote: none
      escape: \\
      header-lines: 2
      names: [a, "b,c"]
      sheet: Data
      skip-lines: 3
      comment: "#"
      "null": [NA, "-", ""]
      quoted-empty: text
      encoding: latin-1
      ragged: pad
      quotes: lenient
      columns: a,b
      type: {zip: text, "a:b": INTEGER}
      flatten: true
      json-path: data.items
      duplicate-keys: reject
      dialect: unix
      infer: full
      max-ratio: none
      memory: 128MiB
      key: [id, "a, b", 'x"y']
      key-where: active = 1
      create-key: true
      null-keys: insert
      mode: upsert
      merge: [coalesce, "newer:ts"]
      update-if: excluded.a > a
      create: never
      not-null: ["a,b"]
      contract: quarantine
      index: [[a, b], c, "d,e"]
      indexes: defer
      fts: keep
      triggers: guarded
      foreign-keys: deferred
      blob: file
      blob-folder: blobs
      init: setup.sql
      on-error: stop
      rejects: bad.ndjson
      durability: full
      commit-every: 2s
      wal-limit: 8MiB
      busy-timeout: 100
      input-order: true
      keep-runs: all
      keep-files: 5
      keep-rejects: 6
      keep-quarantine: 7
      deadline: 2h
      retries: 3
      retry-after: 10s
      row-state: true
      local-edits: keep
      columns-gone: keep
      json-nan: "null"
      state-schema: own
      date: { day: '%d/%m/%Y' }
      decimal: comma
      thousands: .
      bool: ['state=open/done']
      trim: blanks
      add: { src: file }
      let: { total: 'price * 2' }
      where: kind = 'A'
      """)
    let words = [
      "--format=csv", "--compression=gzip", "--delimiter=;", "--quote=none", "--escape=\\",
      "--header-lines=2",
      "--names=a,\"b,c\"", "--sheet=Data", "--skip-lines=3", "--comment=#",
      "--null=NA", "--null=-", "--null", "",
      "--quoted-empty=text", "--encoding=latin-1",
      "--ragged=pad", "--quotes=lenient", "--columns=a,b", "--type=zip:text", "--type=a:b:INTEGER",
      "--flatten=_",
      "--json-path=data.items", "--duplicate-keys=reject", "--json-nan=null", "--dialect=unix",
      "--infer=full",
      "--max-ratio=none",
      "--memory=128MiB",
      "--key=id,\"a, b\",\"x\"\"y\"", "--key-where=active = 1", "--create-key", "--null-keys=insert",
      "--mode=upsert", "--merge=coalesce", "--merge=newer:ts", "--update-if=excluded.a > a", "--create=never",
      "--not-null=a,b", "--contract=quarantine", "--index=a,b", "--index=c", "--index=d,e", "--indexes=defer",
      "--fts=keep", "--triggers=guarded", "--foreign-keys=deferred", "--blob=file",
      "--blob-folder=jobs/blobs",
      "--init=jobs/setup.sql", "--on-error=stop", "--rejects=jobs/bad.ndjson", "--durability=full",
      "--commit-every=2s", "--wal-limit=8MiB", "--busy-timeout=100", "--input-order",
      "--keep-runs=all", "--keep-files=5", "--keep-rejects=6", "--keep-quarantine=7", "--deadline=120m",
      "--retries=3", "--retry-after=10s", "--row-state",
      "--local-edits=keep", "--columns-gone=keep", "--state-schema=own",
      "--date=day=%d/%m/%Y", "--decimal=comma", "--thousands=.", "--bool=state=open/done", "--trim=blanks",
      "--add=src=file", "--let=total=price * 2", "--where=kind = 'A'",
    ]
    var expected = MirrorTable(name: "t", sources: ["jobs/a.csv"])
    try TableOptions.parse(words).apply(to: &expected)
    #expect(Self.shown(table) == Self.shown(expected))
    #expect(
      expected.options.rules.key == ["id", "a, b", "x\"y"]
        && expected.options.input.csv.nullSpellings.count == 3)
    let mentioned = Set(words.map { $0.prefix { $0 != "=" } })
    let left = OptionCatalogue.keys.filter { $0.group == nil && !mentioned.contains($0.option[...]) }.map(
      \.key)
    // Those that are tried in other tests, or exclude one of these.
    #expect(
      left.sorted() == [
        "alter", "any-key", "connections", "default", "delete-when", "json-map", "key-index", "kind", "max-rejects",
        "no-header",
        "owned-by", "rename", "scope",
        "set", "strict", "sweep", "widths",
      ])
  }

  @Test("Texts that are NULL and words of yes and no are given by column, as a mapping or a list")
  func byColumn() throws {
    let mapping = try self.table("null: {kind: A, 'a=b': ['-', '']}\nbool: {flag: ja/nein, known: true}")
    let list = try self.table("null: [kind=A, '-']\nbool: [flag=ja/nein, known]")
    #expect(mapping.options.input.values.nulls == ["kind": ["A"], "a=b": ["-", ""]])
    #expect(
      list.options.input.values.nulls == ["kind": ["A"]] && list.options.input.csv.nullSpellings == [[0x2D]])
    #expect(
      mapping.options.input.values.truths == ["flag": .words(yes: ["ja"], no: ["nein"]), "known": .usual])
    #expect(mapping.options.input.values.truths == list.options.input.values.truths)
    #expect(mapping.options.input.csv.nullSpellings.isEmpty)
    let slash = try self.table("bool: {flag: 'yes/no,N//A'}")
    #expect(slash.options.input.values.truths == ["flag": .words(yes: ["yes"], no: ["no", "N/A"])])
  }

  /// A table as text, whose dictionaries keep no order.
  private static func shown(_ table: MirrorTable) -> String {
    var table = table
    let types = table.options.table.types.sorted { $0.key < $1.key }
    table.options.table.types = [:]
    return "\(table) \(types)"
  }

  @Test("Names hold any sign")
  func names() throws {
    let table = try self.table(
      """
      rename: {"a=b": "c=d", "x:y": "z, w", 007: bond}
      default: {"a=b": "c=d", n: 1e3, e: '', s: 'null'}
      set: {"a=b": sum, "visits": "visits + excluded.visits"}
      delete-when: {"a=b": true}
      type: {"a:b": "NUMERIC(10,2)"}
      max-rejects: 2%
      no-header: true
      strict: false
      """)
    #expect(table.options.table.renames == ["a=b": "c=d", "x:y": "z, w", "007": "bond"])
    #expect(table.options.table.defaults == ["a=b": "c=d", "n": "1e3", "e": "", "s": "null"])
    #expect(
      table.options.rules.merge.columns == ["a=b": .sum, "visits": .expression("visits + excluded.visits")])
    #expect(table.options.rules.tombstone == Tombstone(column: "a=b", value: "true"))
    #expect(table.options.table.types == ["a:b": "NUMERIC(10,2)"])
    #expect(table.options.rejects.limit == .percent(2) && table.options.input.csv.headerLineCount == 0)
    #expect(!table.options.table.isStrict)
    let words = try self.table(
      "delete-when: {gone: }\nkey: lower(email)\nflatten: '.'\nsweep: {soft: 'a:b'}\nalter: true")
    #expect(words.options.rules.tombstone == Tombstone(column: "gone", value: ""))
    #expect(words.options.rules.key == ["lower(email)"] && words.options.input.flattenSeparator == ".")
    #expect(words.sweep == .soft(column: "a:b") && words.options.table.contract == .evolve)
    let others = try self.table(
      "delete-when: op=D\nkey-index: by_name\nsweep: soft:gone\nflatten: false\nrejects: table")
    #expect(others.options.rules.tombstone == Tombstone(column: "op", value: "D"))
    #expect(others.options.rules.target == .index("by_name") && others.sweep == .soft(column: "gone"))
    #expect(others.options.input.flattenSeparator == nil && others.options.rejects.target == .table)
    #expect(try self.table("any-key: true").options.rules.target == .any)
  }

  @Test("A table overrides defaults key by key, also those of guards, folder and headers")
  func merging() throws {
    let job = try read(
      """
      defaults:
        key: id
        sweep: hard
        strict: true
        scope: tenant = 7
        guards: {min-rows: 5, max-delete: 20%}
        headers: {User-Agent: nightly, Accept: text/csv}
      tables:
        a: {source: https://example.org/a.csv, guards: {max-delete: 3}, headers: {accept: '*/*'}}
        b: {source: b.csv, key: [x, y], sweep: none, strict: false}
        c: {source: exec:cat c.csv}
      """)
    #expect(job.tables[0].guards.maximumDeletes == .count(3) && job.tables[0].guards.leastRows == 5)
    #expect(job.tables[0].headers == ["User-Agent": "nightly", "accept": "*/*"])
    #expect(job.tables[0].sources == ["https://example.org/a.csv"])
    #expect(
      job.tables[1].options.rules.key == ["x", "y"] && job.tables[1].sweep == .none
        && !job.tables[1].options.table.isStrict)
    #expect(
      job.tables[2].sweep == .hard && job.tables[2].options.table.isStrict
        && job.tables[2].scope == "tenant = 7")
    #expect(job.tables[2].sources == ["exec:cat c.csv"])
  }

  @Test(
    "Paths start at the folder of the job file",
    arguments: [
      ("job.yaml", "feed.csv", "feed.csv"), ("jobs/job.yaml", "feed.csv", "jobs/feed.csv"),
      ("/etc/jobs/job.yaml", "../feed*.csv", "/etc/jobs/../feed*.csv"), ("/job.yaml", "in/", "/in/"),
      ("jobs/job.yaml", "/in/feed.csv", "/in/feed.csv"), ("jobs/job.yaml", "-", "-"),
      ("jobs/job.yaml", "exec:cat x", "exec:cat x"), ("jobs/job.yaml", "HTTPS://a.b/c", "HTTPS://a.b/c"),
      ("jobs/job.yaml", "sqlite:a.db#t", "sqlite:jobs/a.db#t"),
      ("jobs/job.yaml", "sqlite:/a.db#t", "sqlite:/a.db#t"),
      ("jobs/job.yaml", "sqlite:a.db?query=SELECT '#' AS a", "sqlite:jobs/a.db?query=SELECT '#' AS a"),
      ("jobs/job.yaml", "a:b.csv", "jobs/a:b.csv"), ("-", "feed.csv", "feed.csv"),
      ("jobs/job.yaml", "2026-01-01", "jobs/2026-01-01"),
    ])
  func paths(file: String, source: String, expected: String) throws {
    let table = try #require(read("tables: {t: {source: \"\(source)\"}}", file: file).tables.first)
    #expect(table.sources == [Source(expected)])
  }

  @Test("Secrets are put in, and never shown")
  func secrets() throws {
    let scratch = Scratch()
    _ = scratch.write("s3cret-token\r\n", to: "token")
    let text = """
      tables:
        t:
          source: ["https://me:${env:PASS}@example.org/${env:PATH_PART}.csv", "${env:DIR}/a$${b}.csv", "x/${file:token}$"]
          headers: {Authorization: "Bearer ${file:token}", X-Price: "5$"}
      """
    let environment = ["PASS": "hunter2", "PATH_PART": "q?k=hunter2", "DIR": "/hunter2"]
    let reader = JobFileReader(file: scratch.file("job.yaml")) { environment[$0] }
    let file = try reader.read(Array(text.utf8), database: "a.db")
    let table = try #require(file.job.tables.first)
    #expect(
      table.sources.map(\.opening.text) == [
        "https://me:hunter2@example.org/q?k=hunter2.csv", "/hunter2/a${b}.csv",
        scratch.file("x/s3cret-token$"),
      ])
    #expect(
      table.sources.map(\.label) == [
        "https://me:${env:PASS}@example.org/${env:PATH_PART}.csv", "${env:DIR}/a$${b}.csv",
        scratch.file("x/${file:token}$"),
      ])
    #expect(table.headers == ["Authorization": "Bearer s3cret-token", "X-Price": "5$"])
    let shown = JobText.text(file)
    #expect(!shown.contains("hunter2") && !shown.contains("s3cret"), "\(shown)")
    #expect(shown.contains("Authorization, X-Price") && shown.contains("${env:DIR}"))
    let missing = #expect(throws: UpsurgeError.self) {
      try reader.read(Array("tables: {t: {source: '${file:nope}'}}".utf8), database: "a.db")
    }
    #expect(missing?.code == .unreadableInput && missing?.description.contains("job.yaml:1:22") == true)
  }

  @Test("JSON is YAML, and a byte order mark is no text")
  func json() throws {
    let text = """
      {
      \t"atomic": "bounded",
      \t"tables": {
      \t\t"a\\u00e9\\/b": {"source": ["x.csv"], "key": ["id"], "sweep": {"soft": "gone"}, "strict": true,
      \t\t\t"guards": {"max-delete": 12, "min-ratio": 0.5}}
      \t}
      }
      """
    for start in ["", "\u{FEFF}"] {
      let job = try read(start + text, file: "job.json")
      #expect(job.atomicity == .bounded && job.tables.map(\.name) == ["aé/b"])
      #expect(job.tables[0].guards.maximumDeletes == .count(12) && job.tables[0].options.table.isStrict)
    }
  }

  @Test("A job in words")
  func words() throws {
    let file = try JobFileReader(file: "jobs/job.yaml").read(Array(Self.sample.utf8), database: "a.db")
    #expect(
      JobText.text(file) == """
        jobs/job.yaml: 2 tables of a.db; all of it becomes visible at once (atomic: job)

        table members
          source   jobs/feed.csv
          kind     snapshot: every delivery is the whole truth
          key      Symbol
          sweep    hard: rows that a snapshot no longer has are deleted, of those where tenant = 7
          guards   at most 10% of the rows go; a snapshot has at least 2 records and 0.25 of the last one's; an empty one means no rows
          trailer  the last line is END {count}
          count    exactly 7 records
          folder   files by time of change; those that are stored go to jobs/done
          options  --on-error reject

        table changes
          source   jobs/a.ndjson
          source   /b/*.ndjson
          kind     delta: only changes
          key      the table's primary key, if the records have its columns
          sweep    none: rows that the feed no longer has stay
          options  --on-error reject --delete-when op=D

        """)
  }

  @Test(
    "The jobs in the documentation are read",
    arguments: [
      "Sources/UpsurgeCommand/UpsurgeCommand.docc/Mirrors.md",
      "Sources/UpsurgeMirror/UpsurgeMirror.docc/JobFiles.md",
    ])
  func documentation(file: String) throws {
    var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    parts.removeLast(4)
    let text = String(decoding: try readFile(parts.joined(separator: "/") + "/" + file), as: UTF8.self)
    let blocks = text.components(separatedBy: "```yaml\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }
    #expect(!blocks.isEmpty)
    #expect(blocks.contains { $0.contains("sweep: hard") })
    for block in blocks {
      let job = try read(block)
      #expect((job.tables.first?.sweep == .hard) == block.contains("sweep: hard"), "\(block)")
    }
    let help = CommandGuide.mirror.sections.map(\.text).joined(separator: "\n\n")
    let sample = help.components(separatedBy: "\n\n").filter { $0.hasPrefix("  defaults:") }
    #expect(sample.count == 1)
    #expect(try read(sample.joined()).tables.first?.guards.leastRatio == 0.5)
  }
}
