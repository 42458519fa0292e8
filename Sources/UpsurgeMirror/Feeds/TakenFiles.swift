import Upsurge
import UpsurgeRecords
import UpsurgeSQLite

/// The table of files that were taken once and for all: those of drop folders and of deltas.
enum TakenFiles {
  static let name = OwnTable.takenFiles.rawValue

  static let layout = OwnLayout(
    .takenFiles, purpose: "taken files are kept in one of this name",
    columns: ["table", "hash", "bytes", "name", "stamp", "taken_at"],
    body: """
      "table" TEXT NOT NULL COLLATE NOCASE,
      hash TEXT NOT NULL,
      bytes INTEGER NOT NULL,
      name TEXT NOT NULL,
      stamp TEXT NOT NULL,
      taken_at TEXT NOT NULL,
      PRIMARY KEY ("table", hash, bytes, name)
      """, options: " WITHOUT ROWID",
    steps: [.key("name")])

  /// The table as each store has it.
  static let notes = NoteTable(
    layout,
    columns: [
      .init("table", isKey: true), .init("hash", isKey: true), .init("bytes", .integer, isKey: true),
      .init("name", isKey: true), .init("stamp"), .init("taken_at"),
    ])

  static func row(_ file: DeliveredFile, of table: String, at now: String) -> [SQLValue] {
    [
      .text(table), .text(String(file.hash, radix: 16)), .integer(Int64(clamping: file.byteCount)),
      .text(file.name), .text(FeedText.encode([file])), .text(now),
    ]
  }

  static func exists(_ connection: Connection) throws(UpsurgeError) -> Bool {
    try layout.exists(on: connection)
  }

  /// The files that a table has taken.
  static func all(of table: String, on connection: Connection) throws(UpsurgeError) -> [DeliveredFile] {
    try connection.reading { () throws(UpsurgeError) in
      guard try exists(connection) else { return [] }
      let statement = try connection.prepare("SELECT stamp FROM main.upsurge_files WHERE \"table\" = ?1")
      try statement.bind(table, at: 1)
      var files: [DeliveredFile] = []
      while try statement.step() { files += try FeedText.files(statement.text(at: 0) ?? "[]") }
      return files
    }
  }

  /// Notes one; of a name and content, the last time counts.
  static func add(_ file: DeliveredFile, of table: String, on connection: Connection) throws(UpsurgeError) {
    try add([file], of: table, on: connection)
  }

  /// Notes several at once.
  static func add(
    _ files: [DeliveredFile], of table: String, on connection: Connection
  ) throws(UpsurgeError) {
    try connection.writing { () throws(UpsurgeError) in
      try layout.prepare(on: connection)
      let statement = try connection.prepare(
        """
        INSERT INTO main.upsurge_files ("table", hash, bytes, name, stamp, taken_at)
        VALUES (?1, ?2, ?3, ?4, ?5, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
        ON CONFLICT DO UPDATE SET stamp = excluded.stamp, taken_at = excluded.taken_at
        """)
      for file in files {
        // The time is SQLite's.
        for (index, value) in row(file, of: table, at: "").dropLast().enumerated() { try statement.bind(value, at: Int32(index + 1)) }
        _ = try statement.step()
        statement.reset()
      }
    }
  }
}
