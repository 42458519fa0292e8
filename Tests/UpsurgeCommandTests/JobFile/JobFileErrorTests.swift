import Testing
import Upsurge

@testable import UpsurgeCommand

/// What is wrong in a job file is told with its place, its key, and what is right.
@Suite("Job files that are wrong")
struct JobFileErrorTests {
  struct Wrong: CustomTestStringConvertible, Sendable {
    var text: String
    /// Line and column.
    var place: String
    var message: String
    var hint: String?

    init(_ text: String, _ place: String, _ message: String, _ hint: String? = nil) {
      self.text = text
      self.place = place
      self.message = message
      self.hint = hint
    }

    var testDescription: String { text.split(separator: "\n").joined(separator: "⏎") }
  }

  /// A job of table `t`, whose settings begin in line 3, column 5.
  private static func table(
    _ line: String, _ place: String, _ message: String, _ hint: String? = nil
  ) -> Wrong {
    Wrong("tables:\n  t:\n    source: a.csv\n    \(line)\n", place, message, hint)
  }

  static let syntax = [
    Wrong(
      "", "1:1", "there is nothing in the job file", "upsurge mirror init DB SOURCE writes one"),
    Wrong(
      "# nothing\n", "1:1", "there is nothing in the job file", "upsurge mirror init DB SOURCE writes one"),
    Wrong(
      "just words\n", "1:1", "the file is a text; it takes the keys defaults, atomic, deadline and tables"),
    Wrong("- a\n", "1:1", "the file is a list; it takes the keys defaults, atomic, deadline and tables"),
    Wrong(
      "tables:\n\tt:\n", "2:1",
      "this is no YAML: found character that cannot start any token (while scanning for the next token, line 2)",
      "indent with spaces, not tabs"),
    Wrong(
      "tables:\n  t: {source: @feed}\n", "2:15",
      "this is no YAML: found character that cannot start any token (while scanning for the next token, line 2)",
      "quote a text that begins with a sign, as in \"%x\" or \"@x\""),
    Wrong(
      "tables:\n  t:\n    source: a: b\n", "3:14",
      "this is no YAML: mapping values are not allowed in this context",
      "quote a text that holds a colon and a space; keys of one mapping begin in the same column"),
    Wrong(
      "tables:\n  t:\n    source: *.csv\n", "3:13", "an alias (*NAME), which job files do not have",
      "put what tables share under defaults; quote a text that begins with *, as in \"*.csv\""),
    Wrong(
      "defaults: &base {strict: true}\ntables:\n  t: *base\n", "3:6",
      "an alias (*NAME), which job files do not have",
      "put what tables share under defaults; quote a text that begins with *, as in \"*.csv\""),
    Wrong(
      "tables:\n  t:\n    source: !secret x\n", "3:13", "the tag !secret means nothing in a job file",
      "leave it out"),
    Wrong(
      "tables: {t: {source: a}}\n---\ntables: {}\n", "2:1", "a second document (---); a job file has one",
      "make it another file"),
    Wrong(
      "tables:\n  t:\n    source: a\n    key: id\n    source: b\n", "5:5", "the key source is given twice",
      "remove it here or in line 3"),
    Wrong(
      "{\"tables\": {\"t\": {\"source\": \"a\", \"source\": \"b\", \"key\": \"id\"}}}", "1:34",
      "the key source is given twice", "remove it here or in line 1"),
    Wrong(
      "tables:\n  t:\n    source: a\n    \"source\": b\n", "4:5", "the key source is given twice",
      "remove it here or in line 3"),
    Wrong(
      "tables:\n  t:\n    source: \"*\"\n    key: id\n    key: ix\n", "5:5", "the key key is given twice",
      "remove it here or in line 4"),
    Wrong(
      "tables:\n  ? [a]\n  : {source: a}\n", "2:5", "a key must be a text",
      "quote a name that begins with [, {, ? or -"),
    Wrong(
      "tables:\n  t: {source: \"a\\0b\"}\n", "2:15",
      "a text with a NUL character, at which paths and SQL end", "leave it out"),
  ]

  static let top = [
    Wrong(
      "deadline: 7\ntables: {}\n", "1:11", "deadline: 7 is no time", "write a time such as 30m or 2h"),
    Wrong(
      "deadline: [2h]\ntables: {}\n", "1:11", "deadline: is a list; it takes a time",
      "write a time such as 30m or 2h"),
    Wrong("atomic: table\n", "1:1", "there is no key tables", "add tables: with a key for each table"),
    Wrong(
      "tabels: {}\n", "1:1", "the key tabels is not known; known: defaults, atomic, deadline and tables",
      "did you mean tables?"),
    Wrong(
      "source: a\n", "1:1", "the key source is of a table", "put it under tables.NAME, or under defaults"),
    Wrong(
      "merge: keep\n", "1:1", "the key merge is of a table", "put it under tables.NAME, or under defaults"),
    Wrong(
      "database: a.db\n", "1:1",
      "the key database is not taken: the database is said on the command line: upsurge mirror DB JOB",
      "remove it"),
    Wrong(
      "atomic: tabel\ntables: {t: {source: a}}\n", "1:9",
      "atomic: tabel is not known; known: job, table, bounded", "did you mean table?"),
    Wrong("atomic: [job]\ntables: {}\n", "1:9", "atomic: is a list; known: job, table, bounded"),
    Wrong("tables: {}\n", "1:9", "tables: names no table"),
    Wrong("tables: [a]\n", "1:9", "tables: is a list; it takes a key for each table: NAME: {source: FILE}"),
    Wrong("tables:\n  t:\n", "2:3", "tables.t: says nothing", "add source: FILE"),
    Wrong("tables:\n  t: x\n", "2:6", "tables.t: is a text; it takes keys, such as source, key and kind"),
    Wrong("tables:\n  t: {key: id}\n", "2:3", "tables.t: has no source", "add source: FILE"),
    Wrong("tables:\n  '': {source: a}\n", "2:3", "tables: a table without a name"),
    Wrong(
      "tables:\n  Upsurge_Runs: {source: a}\n", "2:3",
      "tables: Upsurge_Runs is a table of Upsurge's own, in which it keeps something beside the data",
      "give another table"),
    Wrong(
      "tables:\n  Orders: {source: a}\n  orders: {source: b}\n", "3:3",
      "tables: orders and Orders of line 2 are one table to SQLite", "remove one of them"),
    Wrong(
      "defaults: {source: a}\ntables: {t: {source: a}}\n", "1:12", "defaults: source is of one table",
      "put it under tables.NAME"),
    Wrong(
      "defaults: {memory: lots}\ntables: {t: {source: a, memory: 64MiB}}\n", "1:20",
      "defaults.memory: lots cannot be understood",
      "Bound of all memory taken after start-up. At least 16MiB."),
  ]

  static let keys = [
    table("keys: id", "4:5", "tables.t: the key keys is not known", "did you mean key?"),
    table("zzz: id", "4:5", "tables.t: the key zzz is not known", "upsurge mirror --schema lists all keys"),
    table("guard: {}", "4:5", "tables.t: the key guard is not known", "did you mean guards?"),
    table(
      "max-delete: 1", "4:5", "tables.t: the key max-delete belongs under guards",
      "write guards: {max-delete: …}"),
    table(
      "guards: {max_delete: 1}", "4:14",
      "tables.t.guards: the key max_delete is not known; known: allow-empty, expect-count, line-end, max-delete, "
        + "min-ratio, min-rows, suspicious, trailer", "did you mean max-delete?"),
    table(
      "guards: {sweep: hard}", "4:14", "tables.t.guards: the key sweep is of the table itself",
      "move it one level up"),
    table(
      "guards: none", "4:13",
      "tables.t.guards: is a text; it takes the keys allow-empty, expect-count, line-end, max-delete, min-ratio, "
        + "min-rows, suspicious, trailer"
    ),
    table(
      "folder: {when: x}", "4:14", "tables.t.folder: the key when is not known; known: done, order",
      "upsurge mirror --schema lists all keys"),
    table(
      "atomic: job", "4:5",
      "tables.t: the key atomic is not taken: what becomes visible at once is said of the whole job: atomic: job, table "
        + "or bounded at the top", "remove it"),
    table(
      "dry-run: diff", "4:5",
      "tables.t: the key dry-run is not taken: it shows what one run would do or did, and a job file is for all runs",
      "remove it"),
    table(
      "resume: never", "4:5",
      "tables.t: the key resume is not taken: a mirror always goes on where its last run ended, and always keeps its "
        + "history", "remove it"),
  ]

  static let values = [
    table("format: xml", "4:13", "tables.t.format: xml is not known; known: csv, tsv, ndjson, json"),
    table(
      "format: cvs", "4:13", "tables.t.format: cvs is not known; known: csv, tsv, ndjson, json",
      "did you mean csv?"),
    table(
      "format: [csv]", "4:13", "tables.t.format: is a list; it takes a text or a number",
      "csv, tsv, ndjson or json. Without it, found from the content."),
    table(
      "format:", "4:5", "tables.t.format: has no value; it takes a text or a number",
      "leave the key out, or quote a text: 'null', ''"),
    table(
      "strict: yes", "4:13", "tables.t.strict: yes is neither true nor false",
      "write true or false, without quotes"),
    table(
      "strict: 'true'", "4:13", "tables.t.strict: true is neither true nor false",
      "write true or false, without quotes"),
    table(
      "strict: {}", "4:13", "tables.t.strict: is a mapping; it takes true or false",
      "Make the new table STRICT."),
    table(
      "kind: delte", "4:11", "tables.t.kind: delte is not known; known: snapshot, delta",
      "did you mean delta?"),
    table(
      "sweep: hrad", "4:12", "tables.t.sweep: hrad is not known; known: none, hard, soft:COL",
      "did you mean hard?"),
    table("sweep: {soft: }", "4:13", "tables.t.sweep.soft: has no text"),
    table("sweep: {sof: a}", "4:12", "tables.t.sweep: takes none, hard, {soft: COL}"),
    table("folder: {done: {move: [a]}}", "4:27", "tables.t.folder.done.move: has no text"),
    table(
      "memory: 1MiB", "4:13", "tables.t.memory: --memory 1MiB is too small", "give at least --memory 16MiB"),
    table(
      "guards: {max-delete: 110%}", "4:26", "tables.t.guards.max-delete: 110% cannot be understood",
      "Sweep at most N rows, or P% of the rows in scope before the run."),
    table(
      "guards: {min-ratio: 1.5}", "4:25",
      "tables.t.guards.min-ratio: --min-ratio takes a share from 0 to 1, such as 0.5"),
    table(
      "guards: {min-rows: -1}", "4:24", "tables.t.guards.min-rows: -1 cannot be understood",
      "Sweep only when a snapshot has at least N records."),
    table(
      "delimiter: \"\\n\"", "4:16", "tables.t.delimiter: --delimiter must not be empty or hold a line end"),
    table(
      "encoding: shift-jiss", "4:15",
      "tables.t.encoding: --encoding shift-jiss is not known; did you mean shift_jis?; known, among others (iconv -l "
        + "lists all): \(TextEncoding.commonNames.joined(separator: ", "))"
    ),
    table("key: []", "4:10", "tables.t.key: the list is empty", "leave the key out"),
    table("key: [a, a]", "4:14", "tables.t.key: a is named twice"),
    table("key: [a, '']", "4:14", "tables.t.key: an empty name"),
    table(
      "rename: [a=b]", "4:13", "tables.t.rename: is a list; it takes {OLD: NEW}",
      "write rename: {a: b}"),
    table(
      "let: total=price*2", "4:10", "tables.t.let: is a text; it takes {COLUMN: SQL}",
      "write let: {total: \"price*2\"}"),
    table(
      "date: day=%d/%m/%Y", "4:11", "tables.t.date: is a text; it takes {COLUMN: FORMAT}",
      "write date: {day: \"%d/%m/%Y\"}"),
    table(
      "type: [zip:TEXT, a]", "4:11", "tables.t.type: is a list; it takes {COLUMN: TYPE}",
      "write it as in type: {zip: TEXT}"),
    table(
      "bool: {a: ja}", "4:11", "tables.t.bool.a: ja is not YES/NO",
      "write bool: {active: 'A,active/I,inactive'}, or true for the words that are known"),
    table(
      "null: {a: [x, {b: c}]}", "4:19", "tables.t.null.a: is a mapping; it takes a text or a list of texts",
      "quote a text: 'null', ''"),
    table(
      "rename: {a: }", "4:14", "tables.t.rename.a: is nothing; it takes a text or a number",
      "write {OLD: NEW}; quote a text: 'null', ''"),
    table(
      "type: {a: PRIMARY KEY}", "4:11", "tables.t.type: --type a:PRIMARY KEY is no type",
      "give one such as INTEGER, REAL, TEXT or BLOB"),
    table(
      "delete-when: {a: 1, b: 2}", "4:18", "tables.t.delete-when: takes one column and its value",
      "write {COLUMN: VALUE}, as in {op: D}"),
    table(
      "merge: [keep, coalesce]", "4:12", "tables.t.merge: --merge takes one of replace, coalesce and keep"),
    table(
      "durability: off", "4:17",
      "tables.t.durability: --durability off is for new files only, and a mirror is run again and again"),
    table(
      "rejects: '-'", "4:14", "tables.t.rejects: takes a file, or table",
      "give the path of a file, such as bad.ndjson"),
  ]

  static let sources = [
    Wrong(
      "tables: {t: {source: }}\n", "1:14", "tables.t.source: is nothing; it takes a text or a list of texts"),
    Wrong("tables: {t: {source: []}}\n", "1:22", "tables.t.source: the list is empty", "name a file"),
    Wrong(
      "tables: {t: {source: [a, {b: c}]}}\n", "1:26",
      "tables.t.source: is a mapping; it takes a text or a list of texts"),
    Wrong("tables: {t: {source: ''}}\n", "1:22", "tables.t.source: is empty", "name a file"),
    Wrong(
      "tables: {t: {source: 'ftp://a/b'}}\n", "1:22",
      "tables.t.source: ftp:// is not read; known: paths, globs, folders, http://, https://, exec:, sqlite:, postgres://",
      "exec:COMMAND reads what a command writes"),
    Wrong(
      "tables: {t: {source: 'https:///x'}}\n", "1:22",
      "tables.t.source: the URL has no host, or a blank in it", "write %20 for a blank"),
    Wrong(
      "tables: {t: {source: 'exec: '}}\n", "1:22", "tables.t.source: exec: has no command",
      "write exec:COMMAND"),
    Wrong(
      "tables: {t: {source: 'sqlite:a.db'}}\n", "1:22",
      "tables.t.source: sqlite: takes a path and a table or query",
      "write sqlite:PATH#TABLE, or 'sqlite:PATH?query=SELECT …'"),
    Wrong(
      "tables: {t: {source: 'https://me:hunter2@a/b'}}\n", "1:22",
      "tables.t.source: a password in the job file",
      "write ${env:NAME} or ${file:PATH} in its place"),
    Wrong(
      "tables: {t: {source: 'a/${env:UNSET}'}}\n", "1:22",
      "tables.t.source: the environment variable UNSET is not set",
      "set it for whoever runs the job"),
    Wrong(
      "tables: {t: {source: 'a/${env:EMPTY}'}}\n", "1:22",
      "tables.t.source: the environment variable EMPTY is empty"),
    Wrong(
      "tables: {t: {source: 'a/${env:LINES}'}}\n", "1:22",
      "tables.t.source: the environment variable LINES holds a line end or a NUL", "a secret is one line"),
    Wrong(
      "tables: {t: {source: '${env:SCHEME}'}}\n", "1:22",
      "tables.t.source: its scheme is not read; known: paths, globs, folders, http://, https://, exec:, sqlite:, postgres://",
      "exec:COMMAND reads what a command writes"),
    Wrong(
      "tables: {t: {source: 'a/${HOME}'}}\n", "1:22",
      "tables.t.source: ${HOME} means nothing; known: ${env:NAME}, ${file:PATH}", "write $${ for the text ${"),
    Wrong(
      "tables: {t: {source: 'a/${env:X'}}\n", "1:22", "tables.t.source: ${env:X has no }",
      "write $${ for the text ${"),
    Wrong(
      "tables: {t: {source: a, headers: {X: y}}}\n", "1:25",
      "tables.t.headers: only http:// and https:// sources are asked with headers", "remove it"),
    Wrong(
      "tables: {t: {source: 'https://a', headers: {'a b': y}}}\n", "1:45",
      "tables.t.headers: a b is no name of a header", "as in User-Agent"),
    Wrong(
      "tables: {t: {source: 'https://a', headers: {a: 1, A: 2}}}\n", "1:51",
      "tables.t.headers: the header A is given twice"),
    Wrong(
      "tables: {t: {source: 'https://a', headers: {a: \"1\\n2\"}}}\n", "1:48",
      "tables.t.headers.a: holds a line end", "a header is one line"),
    Wrong(
      "tables:\n  t: {source: '-'}\n  u: {source: '-'}\n", "3:15",
      "tables.u.source: standard input is named in line 2, too, and can be read only once"),
  ]

  static let conflicts = [
    table(
      "sweep: hard", "4:12", "tables.t.sweep: needs a key, which says what rows the snapshot still has",
      "add key: [COLUMN]"),
    table(
      "scope: a = 1", "4:12", "tables.t.scope: says which rows may be swept, and nothing is swept",
      "add sweep: hard"),
    Wrong(
      "tables:\n  t: {source: a, key: id, kind: delta, sweep: hard}\n", "2:33",
      "tables.t.kind: a delta does not say which rows are gone, so that none can be swept",
      "write kind: snapshot, or sweep: none"),
    Wrong(
      "defaults: {sweep: hard, key: id}\ntables:\n  t: {source: a}\n  u: {source: b, kind: delta}\n", "4:24",
      "tables.u.kind: a delta does not say which rows are gone, so that none can be swept (sweep is set in line 1)",
      "write kind: snapshot, or sweep: none"),
    Wrong(
      "tables:\n  t: {source: a, key: id, sweep: {soft: ID}}\n", "2:34",
      "tables.t.sweep: ID is part of the key, which never changes", "name another column"),
    Wrong(
      "tables:\n  t: {source: a, key: id, sweep: hard, mode: delete}\n", "2:46",
      "tables.t.mode: deletes what the snapshot has, and sweep what it has not: nothing would stay"),
    Wrong(
      "tables:\n  t: {source: a, key: id, key-index: i}\n", "2:38",
      "tables.t.key-index: give one of --key, --key-index and --any-key"),
    Wrong(
      "defaults: {key: id}\ntables:\n  t: {source: a, any-key: true}\n", "3:27",
      "tables.t.any-key: give one of --key, --key-index and --any-key"),
    Wrong(
      "tables:\n  t: {source: a, mode: insert, merge: keep}\n", "2:39",
      "tables.t.merge: mode insert never changes a row: --merge keep does not apply",
      "leave out --merge keep, or give --mode upsert or --mode update"),
    table("key-where: a = 1", "4:16", "tables.t.key-where: --key-where needs --key COLS"),
    table("blob-folder: x", "4:18", "tables.t.blob-folder: --blob-folder is for --blob file"),
    Wrong(
      "tables:\n  t: {source: a, rejects: r}\n  u: {source: b, rejects: r}\n", "3:27",
      "tables.u.rejects: jobs/r is the file of table t, too, and each makes it anew",
      "give another file, or rejects: table"),
    Wrong(
      "defaults: {rejects: r}\ntables: {t: {source: a}, u: {source: b}}\n", "1:21",
      "defaults.rejects: each of 2 tables would make the file anew",
      "write rejects: table, or give each table a file of its own"),
  ]

  static let environment = ["EMPTY": "", "LINES": "a\nb", "SCHEME": "hunter2://x"]

  @Test("Each is told where it is", arguments: syntax + top + keys + values + sources + conflicts)
  func wrong(_ wrong: Wrong) throws {
    let reader = JobFileReader(file: "jobs/job.yaml") { Self.environment[$0] }
    let error = #expect(throws: UpsurgeError.self) {
      try reader.read(Array(wrong.text.utf8), database: "a.db")
    }
    let hint = wrong.hint.map { "\n  fix: \($0)" } ?? ""
    #expect(error?.description == "\(wrong.message)\n  at jobs/job.yaml:\(wrong.place)\(hint)")
    #expect(error?.exitCode(hasCommittedWork: false) == 64)
    #expect(error?.description.contains("hunter2") == false)
  }

  @Test("Bytes that are no text")
  func notText() {
    let reader = JobFileReader(file: "job.yaml")
    let error = #expect(throws: UpsurgeError.self) {
      try reader.read(Array("tables:\n  é: ".utf8) + [0xFF, 0x20], database: "a.db")
    }
    #expect(error?.description == "the job file is not UTF-8\n  at job.yaml:2:6\n  fix: save it as UTF-8")
    let control = #expect(throws: UpsurgeError.self) {
      try reader.read(Array("a: \u{1}\n".utf8), database: "")
    }
    #expect(
      control?.description == "this is no YAML: control characters are not allowed (U+1)\n  at job.yaml:1:4")
  }
}
