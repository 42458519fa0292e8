import Upsurge
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeState

/// Where a mirror's notes are: in the database that its tables are in, whatever that is.
protocol MirrorState: RunShelf {
  /// What is known of a table's feeds.
  func feeds(of table: String) throws(UpsurgeError) -> [FeedRecord]

  /// Writes what is known of a feed, in a transaction of its own.
  func write(_ record: FeedRecord) throws(UpsurgeError)

  /// The files that a table has taken once and for all.
  func takenFiles(of table: String) throws(UpsurgeError) -> [DeliveredFile]

  /// Notes files as taken.
  func take(_ files: [DeliveredFile], of table: String) throws(UpsurgeError)

  func now() throws(UpsurgeError) -> String
  func lastRun(of table: String) throws(UpsurgeError) -> RunRecord?
  func schema(of table: String) throws(UpsurgeError) -> TableSchema?

  /// - Throws: what is wrong with SQL that is to be a condition over a table's rows.
  func check(scope: String, of table: String) throws(UpsurgeError)
  func holdsRows(_ table: String) throws(UpsurgeError) -> Bool

  /// The names of feeds that still deliver rows of a table, those without a name left out.
  func rowOwners(of table: String) throws(UpsurgeError) -> [String]

  /// Whether somebody has edited or deleted a row that a feed's last delivery has had.
  func holdsEdits(of table: String, ownedBy owner: String) throws(UpsurgeError) -> Bool

  /// Forgets what a feed has stored in its rows, as it has written some without noting what.
  func forgetContent(of table: String, ownedBy owner: String) throws(UpsurgeError)

  /// What the table is beside its name and its columns; nil where its rows may be lost without a word.
  func tableMark(of table: String) throws(UpsurgeError) -> String?
}

extension Connection: MirrorState {
  func feeds(of table: String) throws(UpsurgeError) -> [FeedRecord] { try FeedTable.all(of: table, on: self) }

  func write(_ record: FeedRecord) throws(UpsurgeError) { try FeedTable.write(record, on: self) }

  func takenFiles(of table: String) throws(UpsurgeError) -> [DeliveredFile] {
    try TakenFiles.all(of: table, on: self)
  }

  func take(_ files: [DeliveredFile], of table: String) throws(UpsurgeError) {
    try TakenFiles.add(files, of: table, on: self)
  }

  func now() throws(UpsurgeError) -> String { try RunKeeper.now(self) }

  func lastRun(of table: String) throws(UpsurgeError) -> RunRecord? {
    try RunTable.all(self).last { SQLName.isSame($0.job.table, table) }
  }

  func schema(of table: String) throws(UpsurgeError) -> TableSchema? { try TableSchema.read(self, table: table) }

  func check(scope: String, of table: String) throws(UpsurgeError) {
    try SQLFragment(scope).checkIsExpression(option: "scope")
    _ = try prepare("SELECT 1 FROM \(SQLName.quote(table)) WHERE (\(scope))")
  }

  func holdsRows(_ table: String) throws(UpsurgeError) -> Bool {
    guard let schema = try TableSchema.read(self, table: table) else { return false }
    return try integer("SELECT 1 FROM main.\(SQLName.quote(schema.name)) LIMIT 1") != nil
  }

  func rowOwners(of table: String) throws(UpsurgeError) -> [String] {
    try RowStateTable.owners(of: table, on: self)
  }

  func holdsEdits(of table: String, ownedBy owner: String) throws(UpsurgeError) -> Bool {
    guard let schema = try TableSchema.read(self, table: table) else { return false }
    return try RowStateTable.holdsEdits(schema, ownedBy: owner, on: self)
  }

  func forgetContent(of table: String, ownedBy owner: String) throws(UpsurgeError) {
    try RowStateTable.forgetContent(of: table, ownedBy: owner, on: self)
  }

  func tableMark(of table: String) -> String? { "" }
}

/// The notes of a mirror on a server.
struct ServerState: MirrorState {
  let shelf: any MirrorShelf

  var place: String { shelf.place }

  func feeds(of table: String) throws(UpsurgeError) -> [FeedRecord] {
    let rows = try shelf.notes(in: FeedTable.notes, of: table)
    var feeds: [FeedRecord] = []
    for row in rows { feeds.append(try FeedTable.record(row)) }
    return feeds
  }

  func write(_ record: FeedRecord) throws(UpsurgeError) {
    try shelf.write([FeedTable.row(record)], in: FeedTable.notes, of: record.table)
  }

  func takenFiles(of table: String) throws(UpsurgeError) -> [DeliveredFile] {
    var files: [DeliveredFile] = []
    for row in try shelf.notes(in: TakenFiles.notes, of: table) {
      if case .text(let stamp) = row[4] { files += try FeedText.files(stamp) }
    }
    return files
  }

  func take(_ files: [DeliveredFile], of table: String) throws(UpsurgeError) {
    let now = try shelf.now()
    try shelf.write(files.map { TakenFiles.row($0, of: table, at: now) }, in: TakenFiles.notes, of: table)
  }

  func now() throws(UpsurgeError) -> String { try shelf.now() }

  func lastRun(of table: String) throws(UpsurgeError) -> RunRecord? { try shelf.lastRun(of: table) }

  func schema(of table: String) throws(UpsurgeError) -> TableSchema? { try shelf.schema(of: table) }

  func check(scope: String, of table: String) throws(UpsurgeError) { try shelf.check(scope: scope, of: table) }

  func holdsRows(_ table: String) throws(UpsurgeError) -> Bool { try shelf.holdsRows(table) }

  func rowOwners(of table: String) throws(UpsurgeError) -> [String] { try shelf.rowOwners(of: table) }

  func holdsEdits(of table: String, ownedBy owner: String) throws(UpsurgeError) -> Bool {
    try shelf.holdsEdits(of: table, ownedBy: owner)
  }

  func forgetContent(of table: String, ownedBy owner: String) throws(UpsurgeError) {
    try shelf.forgetContent(of: table, ownedBy: owner)
  }

  func tableMark(of table: String) throws(UpsurgeError) -> String? { try shelf.tableMark(of: table) }

  func openRuns(of table: String) throws(UpsurgeError) -> [RunRecord] { try shelf.openRuns(of: table) }

  func hasLostRows(of run: RunRecord) throws(UpsurgeError) -> Bool { try shelf.hasLostRows(of: run) }
}
