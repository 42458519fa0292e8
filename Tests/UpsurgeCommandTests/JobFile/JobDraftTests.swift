import Foundation
import TestSupport
import Testing
import Upsurge
import UpsurgeMirror

@testable import UpsurgeCommand

/// `upsurge mirror init` writes what the reader reads.
@Suite("Job drafts")
struct JobDraftTests {
  let scratch = Scratch()

  private static let datasets: String = {
    var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    parts.removeLast(4)
    return parts.joined(separator: "/") + "/datasets"
  }()

  /// The draft's text, and the table that the reader makes of it.
  private func draft(
    _ source: String, database: String? = nil, table: String? = nil, key: [String]? = nil
  ) throws -> (text: String, table: MirrorTable) {
    let draft = try JobDraft(
      database: database ?? scratch.file("new.db"), source: source, table: table, key: key)
    let job: MirrorJob
    do {
      job = try JobFileReader(file: "job.yaml") { _ in nil }.read(Array(draft.text.utf8), database: "a.db")
        .job
    } catch {
      Issue.record("\(error)\n\(draft.text)")
      throw error
    }
    #expect(job.tables.count == 1 && job.atomicity == .table)
    return (draft.text, try #require(job.tables.first))
  }

  @Test("Formats of values are keys of the draft, and count when their # is taken off")
  func formats() throws {
    let source = scratch.write("id;d;p\n1;31.12.2025;1.234,50\n2;01.01.2026;5,00\n", to: "in.csv")
    let (text, plain) = try draft(source, key: ["id"])
    #expect(text.contains("# note: column d holds dates: date: {d: '%d.%m.%Y'} reads them\n"), "\(text)")
    #expect(
      text.contains("# note: column p holds numbers: decimal: comma thousands: point reads them\n"), "\(text)"
    )
    #expect(!text.contains("--date") && !text.contains("--decimal"), "\(text)")
    #expect(plain.options.input.values == ValueFormats() && plain.options.table.types["p"] == nil)
    #expect(plain.options.table.types["id"] == "INTEGER")
    let keys = ["#date: {d: \"%d.%m.%Y\"}", "#decimal: comma", "#thousands: point"]
    var edited = text
    for key in keys {
      #expect(text.contains("    \(key)\n"), "\(text)")
      edited = edited.replacingOccurrences(of: "    \(key)", with: "    \(key.dropFirst())")
    }
    let job = scratch.write(edited, to: "job.yaml")
    let outcome = try Command.run(["mirror", scratch.file("i.db"), job])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(
      try Database(scratch.file("i.db")).rows("SELECT *, typeof(p) FROM \"in\"") == [
        "1|'2025-12-31'|1234.5|'real'", "2|'2026-01-01'|5.0|'real'",
      ])
  }

  @Test("Marks of single columns are a list, beside the one for all")
  func marksByColumn() throws {
    // Points of thousands in p, and decimal points in lat.
    let mixed = scratch.write("id;p;lat\n1;1.234,50;48.25\n2;5,00;9.5\n", to: "mixed.csv")
    // No mark reads both columns.
    let differing = scratch.write("id;p;q\n1;1.234,50;1,234.50\n2;5,00;7,654.25\n", to: "differing.csv")
    for (source, key, row) in [
      (mixed, "#decimal: [comma, \"lat=point\"]", "1|1234.5|48.25"),
      (differing, "#thousands: [\"p=point\", \"q=comma\"]", "1|1234.5|1234.5"),
    ] {
      let (text, table) = try draft(source, key: ["id"])
      #expect(text.contains("    \(key)\n") && table.options.input.values == ValueFormats(), "\(text)")
      #expect(table.options.table.types["p"] == nil && !text.contains("{lat: point}"), "\(text)")
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
        let isMark = line.hasPrefix("    #decimal:") || line.hasPrefix("    #thousands:")
        return isMark ? "    \(line.dropFirst(5))" : String(line)
      }
      let job = scratch.write(lines.joined(separator: "\n"), to: "job.yaml")
      let outcome = try Command.run(["mirror", scratch.file("m.db"), job])
      #expect(outcome.exitCode == 0, "\(outcome.talk)")
      #expect(try Database(scratch.file("m.db")).rows("SELECT * FROM \"\(table.name)\" LIMIT 1") == [row])
    }
  }

  @Test("Where all columns are numbers that a key reads, no type is left to stand alone")
  func allNumbers() throws {
    let source = scratch.write("a;b\n1.234,50;2.000,25\n5,00;6,75\n", to: "in.csv")
    let (text, table) = try draft(source)
    #expect(text.contains("    #type:\n") && table.options.table.types.isEmpty, "\(text)")
  }

  @Test(
    "The shipped datasets",
    arguments: [
      ("sp500_2025-03-28.csv", "sp500_2025-03-28", ["Symbol"]),
      ("dotgov_2026-08-11.csv.zst", "dotgov_2026-08-11", ["Domain name"]),
      (
        "babynames_2008-2010_release2010.csv.zst", "babynames_2008-2010_release2010", ["year", "name", "sex"]
      ),
      ("bitly_usagov_1200.ndjson.gz", "bitly_usagov_1200", ["h"]),
    ])
  func datasets(file: String, name: String, key: [String]) throws {
    let source = Self.datasets + "/" + file
    let (text, table) = try draft(source, key: key)
    #expect(table.name == name && table.sources == [Source(source)] && table.options.rules.key == key)
    #expect(table.sweep == .none && table.guards == MirrorGuards() && table.options.rejects.target == .table)
    let found = try InspectJob(source: source).describe()
    #expect(
      table.options.table.types
        == Dictionary(
          uniqueKeysWithValues: found.columns.filter { !$0.isReadAsNumbers }.map { ($0.name, $0.type) }))
    #expect(text.contains("# \(found.summary.escapedForTerminal)\n"))
  }

  /// Names that YAML or SQL could take for something else.
  private static let names = [
    "a b", "a:b", "a: b", "- a", "#a", "a #b", "'a'", "a\"b", "\\n", "no", "1e3", "null", "~", "true", "007",
    "0x1F", "=",
    "<<", "{a}", "[a]", "*a", "&a", "!a", "%a", "@a", "`a`", "|", ">", "?", "-", "é", "名前", "😀",
    "\u{202E}rtl", "a\u{85}b",
    "a,b", "a=b", "$x", "${env:X}", "2026-01-01", "y", "on",
  ]

  @Test("Columns of any name", arguments: ["csv", "ndjson"])
  func columns(format: String) throws {
    // Names that are numbers would make the line no header.
    let names = format == "csv" ? Self.names.filter { !$0.contains { $0.isNumber } } : Self.names
    let source: String
    if format == "csv" {
      let header = names.map { "\"" + $0.replacingOccurrences(of: "\"", with: "\"\"") + "\"" }.joined(
        separator: ",")
      let row = names.indices.map { "\($0)" }.joined(separator: ",")
      source = scratch.write("\(header)\n\(row)\n\(row)\n", to: "feed.csv")
    } else {
      let record = Dictionary(uniqueKeysWithValues: names.map { ($0, "x") })
      let line = try JSONSerialization.data(withJSONObject: record)
      source = scratch.write(String(decoding: line, as: UTF8.self) + "\n", to: "feed.ndjson")
    }
    let key = ["a: b", "no", "a\"b"]
    let (_, table) = try draft(source, key: key)
    #expect(table.options.rules.key == key)
    #expect(Set(table.options.table.types.keys) == Set(names))
    let error = #expect(throws: UpsurgeError.self) { try draft(source, key: ["nope", "a,b"]) }
    #expect(error?.message == "--key: \(source) has no column nope")
  }

  @Test("Tables and files of any name", arguments: names)
  func tables(name: String) throws {
    let (_, table) = try draft(scratch.write("id,a\n1,2\n", to: "a.csv"), table: name)
    #expect(table.name == name)
    let file = scratch.write("id,a\n1,2\n", to: "x " + name.replacingOccurrences(of: "/", with: "_"))
    guard access(file, F_OK) == 0, !name.contains("*"), !name.contains("["), !name.contains("?") else {
      return
    }
    // The job file spells `${` otherwise, so what is shown differs.
    #expect(try draft(file).table.sources.map(\.opening) == [Source(file).opening])
  }

  @Test("Leading zeros stay text")
  func leadingZeros() throws {
    let (text, table) = try draft(scratch.write("zip,n\n01234,1\n99999,2\n", to: "zips.csv"))
    #expect(table.options.table.types == ["zip": "TEXT", "n": "INTEGER"])
    #expect(text.contains("zip: TEXT    # 01234, 99999"), "\(text)")
    #expect(text.contains("#key: [zip]") && table.options.rules.target == .primaryKey)
  }

  @Test("A table of the database gives its name and key")
  func existing() throws {
    let path = scratch.file("a.db")
    try Database(path).rows(
      """
      CREATE TABLE "the: members"(id INTEGER, region TEXT, name TEXT, PRIMARY KEY(region, id));
      CREATE TABLE by_mail(mail TEXT, name TEXT);
      CREATE UNIQUE INDEX m ON by_mail(lower(mail));
      CREATE TABLE upsurge_rejects_of_mine(a);
      """)
    let source = scratch.write("id,region,name\n1,n,x\n", to: "feed.csv")
    let (text, table) = try draft(source, database: path)
    #expect(
      table.name == "the: members" && table.options.rules.key == ["region", "id"]
        && table.options.table.types.isEmpty)
    #expect(!text.contains("contract"))
    let (more, other) = try draft(
      scratch.write("mail,name,new\na,b,c\n", to: "mail.csv"), database: path, table: "BY_MAIL")
    #expect(other.name == "BY_MAIL" && other.options.rules.key == ["lower(mail)"])
    #expect(more.contains("# the table has no column new:") && other.options.table.contract == .freeze)
  }

  @Test("Guards are a comment while nothing is swept, and the guards that hold when the marks are taken away")
  func guards() throws {
    let (text, _) = try draft(scratch.write("id,a\n1,2\n", to: "a.csv"), key: ["id"])
    #expect(text.contains("\n    sweep: none\n") && text.contains("\n    #guards:\n"), "\(text)")
    #expect(!text.contains("\n    guards:"))
    let swept = text.replacing("sweep: none", with: "sweep: hard").replacing(
      "    #guards:", with: "    guards:"
    )
    .replacing("    #  m", with: "      m")
    #expect(swept.contains("\n    guards:\n      max-delete: 10%"), "\(swept)")
    let job = try JobFileReader(file: "job.yaml") { _ in nil }.read(Array(swept.utf8), database: "a.db").job
    #expect(job.tables.first?.sweep == .hard && job.tables.first?.guards == MirrorGuards())
  }

  @Test(
    "What is no file is not looked at",
    arguments: [
      ("https://example.org/data/feed.csv.gz?x=${1}", "feed"), ("exec:cat '$x'", "records"),
      ("sqlite:/a.db#my table", "my table"),
    ])
  func others(source: String, name: String) throws {
    let (text, table) = try draft(source)
    #expect(
      table.name == name && table.sources.map(\.opening) == [Source(source).opening]
        && text.contains("# not looked at"))
  }

  @Test("A folder is known by its first file, a glob by its first match")
  func folders() throws {
    let folder = scratch.file("in")
    try FileManager.default.createDirectory(atPath: folder + "/0", withIntermediateDirectories: true)
    #expect(throws: UpsurgeError.self) { try draft(folder) }
    for name in ["b.csv", "a.csv", ".hidden"] {
      _ = FileManager.default.createFile(
        atPath: "\(folder)/\(name)", contents: Data("\(name.prefix(1)),x\n1,2\n".utf8))
    }
    let (_, table) = try draft(folder + "/")
    #expect(
      table.name == "in" && table.options.table.types.keys.contains("a")
        && table.sources == [Source(folder + "/")])
    #expect(try draft(folder + "/*.csv").table.name == "records")
    #expect(throws: UpsurgeError.self) { try draft(folder + "/*.tsv") }
  }
}
