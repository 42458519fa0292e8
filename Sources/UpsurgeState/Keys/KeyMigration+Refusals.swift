import UpsurgeRecords
import UpsurgeSQLite

/// What speaks against a migration of keys.
extension KeyMigration {
  func checkReferences(isDone: Bool) throws(UpsurgeError) {
    let check = try connection.prepare(
      "SELECT \"table\", parent, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2")
    var broken: [String] = []
    while try check.step() {
      broken.append("\(check.integer(at: 2)) of \(check.text(at: 0) ?? "") to \(check.text(at: 1) ?? "")")
    }
    if broken.isEmpty { return }
    let words = broken.joined(separator: ", ").escapedForTerminal
    throw UpsurgeError(
      .guardRefused,
      isDone
        ? "rows would refer to rows that do not exist: \(words)"
        : "rows refer to rows that do not exist: \(words)",
      hint: isDone
        ? "a column that refers to an integer key must hold integers"
        : "PRAGMA foreign_key_check shows them; repair them first")
  }

  /// Tables that a feed mirrors would get its integers again.
  func refuseFeeds() throws(UpsurgeError) {
    guard try connection.integer("SELECT count(*) FROM main.sqlite_schema WHERE name = 'upsurge_feeds'") != 0
    else { return }
    let feeds = try connection.prepare("SELECT DISTINCT \"table\" FROM main.upsurge_feeds")
    while try feeds.step() {
      let name = feeds.text(at: 0) ?? ""
      guard let table = map.tables.first(where: { SQLName.isSame($0.name, name) }) else { continue }
      throw UpsurgeError(
        .guardRefused,
        "the table \(table.name.escapedForTerminal) is mirrored from a feed, whose next delivery would bring its integers again",
        hint: "end the mirror first; what it knows of the table is in upsurge_feeds")
    }
  }

  /// A load that is at work, or goes on where it has ended early, knows the tables as they are, and brings integers.
  func refuseRuns() throws(UpsurgeError) {
    for table in map.tables {
      guard let run = try RunTable.open(connection, table: table.name).first(where: { $0.state == .running })
      else {
        continue
      }
      let name = "run \(run.id) into table \(table.name.escapedForTerminal)"
      if let pid = run.livePID { throw RunTable.isAtWork(name, pid: pid) }
      throw UpsurgeError(
        .guardRefused, "\(name) ended early, and the same command would bring its integers",
        hint:
          "end it first by its own command, or give it up: \(command: "upsurge runs \(connection.path.quotedForShell) \(.forget, run.id)")"
      )
    }
  }

  /// A partial index whose condition has an integer would cover other rows, or none.
  func refuseIndexes(_ indexes: [String], _ mapped: [String]) throws(UpsurgeError) {
    for index in indexes {
      let tokens = SQLScanner.tokens(of: index)
      guard let condition = tokens.lastIndex(where: { $0.isWord("WHERE") }).map({ tokens[$0...] }),
        condition.contains(where: { token in
          token.kind != .literal && mapped.contains { SQLName.isSame($0, token.text) }
        }), condition.contains(where: { $0.kind == .word && Int64($0.text) != nil })
      else { continue }
      throw UpsurgeError(
        .guardRefused, "the condition of an index compares keys that change: \(index.escapedForTerminal)",
        hint: "drop the index first, and make it again with UUIDs")
    }
  }

  /// Full-text tables that would be told of rows by what is no rowid any more, from where this does not reach.
  func refuseSearch(_ searchTables: [SearchTable]) throws(UpsurgeError) {
    let names = Set(searchTables.map { SQLName.folded($0.name) })
    for trigger in try TriggerText.read(connection) {
      let schema = map.tables.first { SQLName.isSame($0.name, trigger.table) }
      for place in KeyTriggerText.rowidPlaces(in: trigger.sql, searchTables: names) {
        guard let schema, map.root(of: place.text, in: schema.name) != nil,
          rowidKey(of: schema).map({ SQLName.isSame($0, place.text) }) != true
        else { continue }
        throw UpsurgeError(
          .guardRefused,
          "the trigger \(trigger.name.escapedForTerminal) finds rows of a full-text table by \(place.text.escapedForTerminal), which becomes a UUID",
          hint: "drop the trigger first, and make one that finds them otherwise")
      }
    }
    for search in searchTables {
      guard let schema = map.tables.first(where: { SQLName.isSame($0.name, search.content ?? "") }),
        let key = rowidKey(of: schema), SQLName.isSame(key, "rowid")
      else { continue }
      throw UpsurgeError(
        .guardRefused,
        "the full-text table \(search.name.escapedForTerminal) finds rows by the column \(key.escapedForTerminal), which becomes a UUID",
        hint: "rename the column first, and make the full-text table again")
    }
    let views = try connection.prepare("SELECT name, sql FROM main.sqlite_schema WHERE type = 'view'")
    while try views.step() {
      let (view, sql) = (views.text(at: 0) ?? "", views.text(at: 1) ?? "")
      guard let search = searchTables.first(where: { SQLName.isSame($0.content ?? "", view) }) else {
        continue
      }
      let tokens = SQLScanner.tokens(of: sql)
      guard
        map.tables.contains(where: { table in
          rowidKey(of: table) != nil && tokens.contains { SQLName.isSame($0.text, table.name) }
        })
      else { continue }
      throw UpsurgeError(
        .guardRefused,
        "the full-text table \(search.name.escapedForTerminal) finds the rows of the view \(view.escapedForTerminal) by a key that becomes a UUID",
        hint: "drop the full-text table first, and make it again over a view that gives the rowid")
    }
  }
}
