import Upsurge
import UpsurgeInput
import UpsurgeRecords
import UpsurgeSQLite

extension TakenFiles {
  /// Forgets files that were taken and have left their folder, and keeps the newest so many of them; part of the transaction
  /// that is open.
  ///
  /// What is forgotten would be taken again if it were there, so a file stays known as long as one of its name or size is in
  /// the folder. Of a folder that holds nothing nobody knows whether it is the right one: a disk may not be mounted.
  /// - Parameter paths: the files that are there.
  static func prune(
    _ table: String, keeping count: UInt64, present paths: [String], on connection: Connection
  ) throws(UpsurgeError) {
    guard try exists(connection) else { return }
    let statement = try connection.prepare(
      """
      SELECT hash, bytes, name, row_number() OVER (ORDER BY taken_at DESC, name DESC) FROM main.upsurge_files
      WHERE "table" = ?1 ORDER BY 4
      """)
    try statement.bind(table, at: 1)
    let (names, sizes) = (Set(paths.map { SourceName.place(of: $0) }), sizes(of: paths))
    let folders = Set(names.map(folder))
    var gone: [(hash: String, bytes: Int64, name: String)] = []
    var others: UInt64 = 0
    while try statement.step() {
      let (bytes, name) = (statement.integer(at: 1), statement.text(at: 2) ?? "")
      if names.contains(name) || sizes.contains(bytes) || !folders.contains(folder(of: name)) { continue }
      others += 1
      if others > count { gone.append((statement.text(at: 0) ?? "", bytes, name)) }
    }
    let deletion = try connection.prepare(
      "DELETE FROM main.upsurge_files WHERE \"table\" = ?1 AND hash = ?2 AND bytes = ?3 AND name = ?4")
    for file in gone {
      try deletion.bind(table, at: 1)
      try deletion.bind(file.hash, at: 2)
      try deletion.bind(file.bytes, at: 3)
      try deletion.bind(file.name, at: 4)
      _ = try deletion.step()
      deletion.reset()
    }
  }

  /// How many files of a table are known.
  static func count(of table: String, on connection: Connection) throws(UpsurgeError) -> UInt64 {
    guard try exists(connection) else { return 0 }
    let statement = try connection.prepare("SELECT count(*) FROM main.upsurge_files WHERE \"table\" = ?1")
    try statement.bind(table, at: 1)
    return try statement.step() ? UInt64(clamping: statement.integer(at: 0)) : 0
  }

  private static func sizes(of paths: [String]) -> Set<Int64> {
    Set(paths.compactMap { path in DeliveredFile.Stamp(path: path).map { Int64(clamping: $0.byteCount) } })
  }

  private static func folder(of name: String) -> Substring {
    name.lastIndex(of: "/").map { name[...$0] } ?? ""
  }
}

extension MirrorTable {
  /// The files of a delta or a drop folder, in order, and the links of its folders, which are not followed.
  func found() throws(UpsurgeError) -> (files: [String], links: [String]) {
    var (files, links): ([String], [String]) = ([], [])
    for source in maskedSources {
      if let path = source.folderPath {
        let listing = try FolderListing.files(in: path, order: folder.order)
        files += listing.files
        links += listing.links
      } else {
        // A stream among files is refused by its name, when it is its turn.
        files += try SourceList.expand([source]).map { $0.filePath ?? $0.name }
      }
    }
    return (files, links)
  }
}
