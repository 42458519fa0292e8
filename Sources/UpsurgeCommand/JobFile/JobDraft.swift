import Upsurge
import UpsurgeMirror

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A job file for one table, made from what a source and a database hold: what `upsurge mirror init` writes.
struct JobDraft {
  private let database: String
  private let source: String
  private let table: String
  private let key: [String]?
  /// What the source looks like; nil for what is no file.
  private let found: InspectJob.Description?
  /// The table, where the database has it.
  private let existing: DatabaseDescription.Table?

  /// - Throws: `unreadableInput` and what else looking at a source or a database may throw.
  init(database: String, source: String, table: String?, key: [String]?) throws(UpsurgeError) {
    self.database = database
    self.source = source
    found = try Self.look(at: source)
    let columns = found?.columns.map(\.name) ?? []
    var tables: [DatabaseDescription.Table] = []
    if DatabaseDescription.isDatabase(database) {
      tables = try DatabaseDescription(path: database).tables.filter { !OwnTable.isOwn($0.name) }
    }
    let name = table ?? Self.table(for: columns, of: tables)?.name ?? Self.name(of: source)
    self.table = name
    existing = tables.first { SQLName.isSame($0.name, name) }
    if let key,
      let unknown = key.first(where: { part in
        !part.contains("(") && !columns.isEmpty && !columns.contains { SQLName.isSame($0, part) }
      })
    {
      let nearest = NearestWord.find(unknown, in: columns).map { "did you mean \($0)?" }
      throw UpsurgeError(
        .usage, "--key: \(source.escapedForTerminal) has no column \(unknown.escapedForTerminal)",
        hint: nearest?.escapedForTerminal ?? "upsurge inspect shows its columns")
    }
    self.key = key ?? existing.flatMap { Self.key(of: $0, columns: columns) }
  }

  private static func look(at source: String) throws(UpsurgeError) -> InspectJob.Description? {
    let named = Source(source)
    guard named.kind == .file, named.foreignScheme == nil else { return nil }
    var status = stat()
    var looked = named
    if stat(source, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
      guard let first = firstFile(of: source) else {
        throw UpsurgeError(
          .unreadableInput, "there is no file in the folder \(source.escapedForTerminal) to look at",
          hint: "name a file that will come into it")
      }
      looked = Source(file: first)
    } else if let first = try SourceList.expand([named]).first {
      looked = first
    }
    return try InspectJob(source: looked).describe()
  }

  /// By name; hidden files are none of a feed.
  private static func firstFile(of folder: String) -> String? {
    guard let listing = opendir(folder) else { return nil }
    defer { closedir(listing) }
    var names: [String] = []
    while let entry = readdir(listing) {
      let name = withUnsafePointer(to: entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      var status = stat()
      if !name.hasPrefix("."), stat("\(folder)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG {
        names.append(name)
      }
    }
    return names.min().map { "\(folder)/\($0)" }
  }

  /// The only table that has all columns of the source.
  private static func table(
    for columns: [String], of tables: [DatabaseDescription.Table]
  ) -> DatabaseDescription.Table? {
    let fitting = tables.filter { table in
      !table.isVirtual && !columns.isEmpty
        && columns.allSatisfy { name in table.columns.contains { SQLName.isSame($0.name, name) } }
    }
    return fitting.count == 1 ? fitting.first : nil
  }

  /// The name of the file up to its first dot: `feed` of `data/feed.csv.zst`.
  private static func name(of source: String) -> String {
    let kind = Source(source).kind
    if kind == .database, let cut = source.lastIndex(of: "#") {
      let table = source[source.index(after: cut)...]
      // Of a server's table the schema may stand before it.
      let isInSchema = (try? Source(source).server()) != nil
      return String(isInSchema ? table.split(separator: ".").last ?? table : table)
    }
    if kind == .command { return "records" }
    var name = source[...]
    if kind == .url { name = name.prefix { $0 != "?" && $0 != "#" } }
    while name.hasSuffix("/") { name = name.dropLast() }
    if let cut = name.lastIndex(of: "/") { name = name[name.index(after: cut)...] }
    let start = name.prefix { $0 != "." && $0 != "*" && $0 != "[" }
    return start.isEmpty || OwnTable.isOwn(String(start)) ? "records" : String(start)
  }

  /// The first key of all rows that the source has; the primary key comes first.
  private static func key(of table: DatabaseDescription.Table, columns: [String]) -> [String]? {
    table.keys.first { key in
      key.predicate == nil
        && key.parts.allSatisfy { part in
          columns.isEmpty || part.contains("(") || columns.contains { SQLName.isSame($0, part) }
        }
    }?.parts
  }
}

extension JobDraft {
  var text: String {
    var lines = [
      "# A job of `upsurge mirror`, written by `upsurge mirror init`: read it, change it, keep it.",
      "#   upsurge mirror \(Self.shown(database.quotedForShell)) job.yaml --check-job    says in words what it does",
      "#   upsurge mirror --schema                all keys; upsurge mirror --help-all says what they mean",
      "# Relative paths start at the folder of this file.", "",
      "# What becomes visible at once: table (each delivery of a table), job (all tables), bounded (transactions).",
      "atomic: table", "", "# For every table that does not say something else.", "defaults:",
      "  on-error: reject    # a bad record does not end the run",
      "  rejects: table      # it is kept in upsurge_rejects",
      "", "tables:", "  \(YAMLText.quoted(table)):",
    ]
    lines += (sourceLines + valueLines + keyLines + sweepLines + tableLines).map {
      $0.isEmpty ? "" : "    " + $0
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func shown(_ text: String) -> String { text.escapedForTerminal }

  private var sourceLines: [String] {
    var lines: [String] = []
    if let found {
      lines.append("# \(Self.shown(found.summary))")
      for remark in found.saidRemarks { lines.append("# note: \(Self.shown(JobWording.ofJob(remark)))") }
    } else {
      lines.append("# not looked at: init only looks at files")
    }
    // `${` would be the beginning of a secret.
    let text = source.replacing("${", with: "$${")
    lines.append("source: \(YAMLText.quoted(text))")
    return lines + [
      "# snapshot: every delivery is the whole truth; delta: it holds only changes", "kind: snapshot",
    ]
  }

  /// Keys that read values otherwise than they stand.
  private var valueLines: [String] {
    guard let found, !found.proposals.isEmpty else { return [] }
    var lines = ["# how dates and numbers are written; without # at its start, a line counts"]
    let dates = found.proposals.filter { $0.term == .date }.compactMap { option -> String? in
      guard let cut = option.value.lastIndex(of: "=") else { return nil }
      let format = String(option.value[option.value.index(after: cut)...])
      return "\(YAMLText.quoted(String(option.value[..<cut]))): \(YAMLText.quoted(format))"
    }
    if !dates.isEmpty { lines.append("#date: {\(dates.joined(separator: ", "))}") }
    for term in [Term.decimal, .thousands] {
      let marks = found.proposals.filter { $0.term == term }.map { YAMLText.quoted($0.value) }
      guard let first = marks.first else { continue }
      // One mark for all columns, and those of single columns.
      lines.append("#\(term.rawValue): " + (marks.count == 1 ? first : "[\(marks.joined(separator: ", "))]"))
    }
    return lines
  }

  private var keyLines: [String] {
    let why = "# the columns that say which row a record is about"
    if let key { return [why, "key: [\(key.map(YAMLText.quoted).joined(separator: ", "))]"] }
    let example = found?.columns.first.map { YAMLText.quoted($0.name) } ?? "id"
    return [why + "; without a key every run adds all records anew", "#key: [\(example)]"]
  }

  private var sweepLines: [String] {
    let meaning =
      "# rows that a snapshot no longer has: none (they stay), hard (deleted), {soft: COLUMN} (marked)"
    let guards = [
      "# with hard or soft: what must hold before a row is swept. These hold if nothing else is said",
      "#guards:",
      "#  max-delete: 10%    # of the rows in scope, or a number",
      "#  min-rows: 1        # records that a snapshot has at least",
      "#  min-ratio: 0.5     # of the records of the last snapshot",
    ]
    return [meaning, "sweep: none"] + guards
  }

  private var tableLines: [String] {
    guard let existing else {
      let columns = (found?.columns ?? []).filter { !$0.type.isEmpty && !$0.name.utf8.contains(0) }
      if columns.isEmpty { return [] }
      let isSample = found?.isFromSample ?? false
      // A type of its own would keep the keys above from reading a column's numbers.
      let isTyped = columns.contains { !$0.isReadAsNumbers }
      return [
        "# the new table's columns\(isSample ? ", by the first MiB of the source" : "")",
        isTyped ? "type:" : "#type:",
      ]
        + columns.map { column in
          let line =
            "  \(YAMLText.quoted(column.name)): \(YAMLText.quoted(column.type))" + Self.examples(column)
          return column.isReadAsNumbers ? "#" + line : line
        }
    }
    let lacking = (found?.columns ?? []).map(\.name).filter { name in
      !existing.columns.contains { SQLName.isSame($0.name, name) }
    }
    if lacking.isEmpty { return [] }
    return [
      "# the table has no column \(lacking.map(Self.shown).joined(separator: ", ")):",
      "# freeze ends the run then, evolve adds it, quarantine keeps such records until there is one",
      "contract: freeze",
    ]
  }

  private static func examples(_ column: InspectJob.Description.Column) -> String {
    let texts = column.examples.prefix(3).map { String(shown($0).prefix(30)) }
    return texts.isEmpty ? "" : "    # \(texts.joined(separator: ", "))"
  }
}

/// Texts in YAML.
enum YAMLText {
  /// The text so that it is a text to every reader of YAML, as it is where nothing could be mistaken.
  static func quoted(_ text: String) -> String {
    let words: Set = ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf"]
    let isPlain =
      text.utf8.allSatisfy {
        (0x41...0x5A).contains($0 & 0xDF) || (0x30...0x39).contains($0) || "_-./".utf8.contains($0)
      } && text.utf8.first.map { (0x41...0x5A).contains($0 & 0xDF) || $0 == 0x5F || $0 == 0x2F } ?? false
    if isPlain && !words.contains(text.lowercased()) { return text }
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x22, 0x5C: quoted += "\\" + String(scalar)
      case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xD800...0xF8FF,
        0xFEFF,
        0xFFFE, 0xFFFF:
        let digits = String(scalar.value, radix: 16, uppercase: true)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
