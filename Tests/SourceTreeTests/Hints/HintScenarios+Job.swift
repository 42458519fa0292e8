extension HintTable {
  private static let feed = "id,a\n1,x\n2,y\n"
  private static let stored = ["1|'x'", "2|'y'"]

  /// A job file as it was, and as its message says that it should be.
  private static func job(
    _ name: String, _ hints: [String], _ wrong: String, _ right: String, files: [String: String] = [:],
    bytes: [String: [UInt8]] = [:], setup: String = "", exits: Set<Int32> = [0], rows: [String] = stored
  ) -> HintScenario {
    HintScenario(
      name: "job: " + name, hints: hints,
      files: bytes.isEmpty ? ["f.csv": feed, "j.yaml": wrong].merging(files) { _, new in new } : ["f.csv": feed],
      bytes: bytes, setup: setup, first: ["mirror", "d.db", "j.yaml"], steps: [.write("j.yaml", right), .again],
      exits: exits, query: "SELECT id, a FROM t", rows: rows)
  }

  private static func table(_ settings: String, above: String = "") -> String {
    above + "tables:\n  t:\n" + settings.split(separator: "\n").map { "    \($0)\n" }.joined()
  }
  private static let plain = table("source: f.csv\nkey: [id]")

  /// What a job file cannot say.
  static let jobScenarios: [HintScenario] = [
    job("no source", ["add source: FILE"], "tables:\n  t:\n", plain),
    job("no source among settings", ["add source: FILE"], table("key: [id]"), plain),
    job("a source of the defaults", ["put it under tables.NAME"], "defaults: {source: f.csv}\n" + table("key: [id]"), plain),
    job("a key of a group", ["write …: {…: …}"], table("source: f.csv\nkey: [id]\nmin-rows: 1"), table("source: f.csv\nkey: [id]\nguards: {min-rows: 1}")),
    job("a key of the table in a group", ["move it one level up"], table("source: f.csv\nguards: {key: id}"), plain),
    job("a key that is nearly known", ["did you mean …?"], table("source: f.csv\nkeyy: [id]"), plain),
    job("a key that is not known", ["upsurge mirror --schema lists all keys"], table("source: f.csv\nzzzzzzzzzz: 1\nkey: [id]"), plain),
    job("an empty source", ["name a file"], table("source: ''\nkey: [id]"), plain),
    job("no source in a list", ["name a file"], table("source: []\nkey: [id]"), plain),
    job("a URL of a file", ["give the path"], table("source: file:///f.csv\nkey: [id]"), plain),
    job("another scheme", ["exec:COMMAND reads what a command writes"], table("source: s3://b/f.csv\nkey: [id]"), table("source: exec:cat f.csv\nkey: [id]")),
    job("no command", ["write exec:COMMAND"], table("source: 'exec: '\nkey: [id]"), table("source: 'exec:cat f.csv'\nkey: [id]")),
    job("no table of a database", ["write sqlite:PATH#TABLE, or 'sqlite:PATH?query=SELECT …'"], table("source: sqlite:s.db\nkey: [id]"),
      table("source: 'f.csv'\nkey: [id]")),
    job("no table of a server", ["write postgres://HOST/DATABASE#TABLE, or 'postgres://HOST/DATABASE?query=SELECT …'"],
      table("source: postgres://h/d\nkey: [id]"), table("source: 'f.csv'\nkey: [id]")),
    job("a URL with a blank", ["write %20 for a blank"], table("source: 'http://h/a b'\nkey: [id]"), plain),
    job("too large", ["give a job file"], String(repeating: "# a long comment\n", count: 70_000), plain),
    job("nothing", ["upsurge mirror init DB SOURCE writes one"], "# nothing\n", plain),
    job("no tables", ["add tables: with a key for each table"], "atomic: table\n", plain),
    job("not UTF-8", ["save it as UTF-8"], "", plain, bytes: ["j.yaml": Array("# caf".utf8) + [0xE9, 0x0A]]),
    job("a database", ["remove it"], "database: d.db\n" + plain, plain),
    job("a key of a table at the top", ["put it under tables.NAME, or under defaults"], "key: [id]\n" + table("source: f.csv"), plain),
    job("a top key that is nearly known", ["did you mean …?"], "deadlines: 1h\n" + plain, "deadline: 1h\n" + plain),
    job("no time", ["write a time such as 30m or 2h"], "deadline: soon\n" + plain, "deadline: 30m\n" + plain),
    job("an alias", ["put what tables share under defaults; quote a text that begins with *, as in \"*.csv\""],
      table("source: *f\nkey: [id]"), table("source: \"*.csv\"\nkey: [id]")),
    job("a key that is a list", ["quote a name that begins with [, {, ? or -"], "[tables]: 1\n" + plain, plain),
    job("a tag", ["leave it out"], table("source: !x f.csv\nkey: [id]"), plain),
    job("a key twice", ["remove it here or in line …"], table("source: f.csv\nkey: [id]\nkey: [a]"), plain),
    job("two documents", ["make it another file"], plain + "---\n" + plain, plain),
    job("tabs", ["indent with spaces, not tabs"], "tables:\n\tt: {source: f.csv}\n", plain),
    job("a sign", ["quote a text that begins with a sign, as in \"%x\" or \"@x\""], table("source: @f.csv\nkey: [id]"), plain),
    job("a colon", ["quote a text that holds a colon and a space; keys of one mapping begin in the same column"],
      table("source: f.csv: x\nkey: [id]"), plain),
    job("indentation", ["look at the quotes and at the indentation of this line and the one before"],
      "tables:\n  t: {source: f.csv\n", plain),
    job("an escape code", ["write the letter itself"], table("source: \"\\qf.csv\"\nkey: [id]"), plain),
    job("a key without a value", ["leave the key out, or quote a text: 'null', ''"], table("source: f.csv\nkey: [id]\nmode:"), plain),
    job("neither true nor false", ["write true or false, without quotes"], table("source: f.csv\nkey: [id]\nalter: 'true'"),
      table("source: f.csv\nkey: [id]\nalter: true")),
    job("an empty list", ["leave the key out"], table("source: f.csv\nkey: [id]\ncolumns: []"), plain),
    job("an empty pair", ["write …, or remove the pair"], table("source: f.csv\nkey: [id]\nrename: {a: ''}"), plain),
    job("a pair of lists", ["write …; quote a text: 'null', ''"], table("source: f.csv\nkey: [id]\nrename: {a: [b]}"), plain),
    job("a mark of deletes that is two", ["write {COLUMN: VALUE}, as in {op: D}"], table("source: f.csv\nkey: [id]\ndelete-when: {a: x, id: 1}"),
      table("source: f.csv\nkey: [id]\ndelete-when: {a: x}"), setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, a)", rows: ["2|'y'"]),
    job("a table of upsurge's own", ["give another table"], "tables:\n  upsurge_runs: {source: f.csv, key: [id]}\n", plain),
    job("one table twice", ["remove one of them"], "tables:\n  t: {source: f.csv, key: [id]}\n  T: {source: f.csv, key: [id]}\n", plain),
    job("rejects to standard output", ["give the path of a file, such as bad.ndjson"], table("source: f.csv\nkey: [id]\nrejects: '-'"),
      table("source: f.csv\nkey: [id]\nrejects: bad.ndjson")),
    job("one file of rejects for two tables", ["give another file, or rejects: table"],
      "tables:\n  t: {source: f.csv, key: [id], rejects: b.ndjson}\n  u: {source: f.csv, key: [id], rejects: b.ndjson}\n",
      "tables:\n  t: {source: f.csv, key: [id], rejects: b.ndjson}\n  u: {source: f.csv, key: [id], rejects: table}\n"),
    job("one file of rejects for all tables", ["write rejects: table, or give each table a file of its own"],
      "defaults: {rejects: b.ndjson}\ntables:\n  t: {source: f.csv, key: [id]}\n  u: {source: f.csv, key: [id]}\n",
      "defaults: {rejects: table}\ntables:\n  t: {source: f.csv, key: [id]}\n  u: {source: f.csv, key: [id]}\n"),
    job("owned rows without a sweep", ["add sweep: hard, or write row-state: true in its place"],
      table("source: f.csv\nkey: [id]\nowned-by: crm"), table("source: f.csv\nkey: [id]\nrow-state: true")),
    job("owned rows, and a sweep is added", ["add sweep: hard, or write row-state: true in its place"],
      table("source: f.csv\nkey: [id]\nowned-by: crm"), table("source: f.csv\nkey: [id]\nowned-by: crm\nsweep: hard")),
    job("a scope without a sweep", ["add sweep: hard"], table("source: f.csv\nkey: [id]\nscope: id < 9"),
      table("source: f.csv\nkey: [id]\nscope: id < 9\nsweep: hard")),
    job("a sweep of a delta", ["write kind: snapshot, or sweep: none"], table("source: f.csv\nkey: [id]\nkind: delta\nsweep: hard"),
      table("source: f.csv\nkey: [id]\nkind: snapshot\nsweep: hard")),
    job("a delta without a sweep", ["write kind: snapshot, or sweep: none"], table("source: f.csv\nkey: [id]\nkind: delta\nsweep: hard"),
      table("source: f.csv\nkey: [id]\nkind: delta\nsweep: none")),
    job("a sweep without a key", ["add key: [COLUMN]"], table("source: f.csv\nsweep: hard"), table("source: f.csv\nsweep: hard\nkey: [id]")),
    job("a mark that is the key", ["name another column"], table("source: f.csv\nkey: [id]\nsweep: {soft: id}"),
      table("source: f.csv\nkey: [id]\nsweep: {soft: gone}")),
    job("headers of a file", ["remove it"], table("source: f.csv\nkey: [id]\nheaders: {A: b}"), plain),
    job("a header that is none", ["as in User-Agent"], table("source: 'http://h/f'\nkey: [id]\nheaders: {'a b': c}"), plain),
    job("a header of two lines", ["a header is one line"], table("source: 'http://h/f'\nkey: [id]\nheaders: {A: \"b\\nc\"}"), plain),
    job("a password", ["write ${env:NAME} or ${file:PATH} in its place"], table("source: 'http://me:secret@h/f'\nkey: [id]"), plain),
    job("a secret that is not closed", ["write $${ for the text ${"], table("source: 'exec:echo ${x; cat f.csv'\nkey: [id]"),
      table("source: \"exec:echo '$${x' > /dev/null; cat f.csv\"\nkey: [id]")),
    job("an unknown secret", ["write $${ for the text ${"], table("source: 'exec:cat ${HOME:+f.csv}'\nkey: [id]"),
      table("source: 'exec:cat $${HOME:+f.csv}'\nkey: [id]")),
    job("a secret that is not set", ["set it for whoever runs the job"], table("source: 'exec:cat ${env:NO_SUCH_NAME}f.csv'\nkey: [id]"), plain),
    job("a secret of two lines", ["a secret is one line"], table("source: 'exec:cat ${file:s}'\nkey: [id]"), plain, files: ["s": "f.\ncsv\n"]),
    job("a secret in a here-document", ["let printf write the lines: printf '%s\\n' ${…} | COMMAND"],
      table("source: \"exec:cat <<E\\n${file:s}\\nE\\n\"\nkey: [id]"),
      table("source: \"exec:printf '%s\\\\n' ${file:s} | xargs cat\"\nkey: [id]"), files: ["s": "f.csv"]),
  ]
}
