import UpsurgeRecords
import UpsurgeSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// How an image is known from somebody's own file of that name, which may be a database, too.
///
/// Two numbers of its header say so: one is that of all images, one is a hash of the database's name. They stay until
/// the file is the database, and its first connection takes them away (`endImage`).
extension ImageFile {
  /// `application_id` of an image: "upsr".
  static let mark: Int32 = 0x7570_7372

  /// `user_version` of an image.
  static func nameMark(of database: String) -> Int32 {
    let name = Array(database.utf8.split(separator: UInt8(ascii: "/")).last ?? [])
    return Int32(truncatingIfNeeded: name.withUnsafeBytes { ContentHash.hash($0) })
  }

  /// Whether a file is what `make` and SQLite leave when they are killed: empty, or a database with our marks. One that a
  /// power loss has made anything else stays.
  static func isImage(_ descriptor: Int32, of database: String) -> Bool {
    var header = [UInt8](repeating: 0, count: 100)
    let count = pread(descriptor, &header, header.count, 0)
    if count == 0 { return true }
    guard count == header.count, header.starts(with: "SQLite format 3\0".utf8) else { return false }
    let number = { (offset: Int) in header[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } }
    return Int32(bitPattern: number(68)) == mark && Int32(bitPattern: number(60)) == nameMark(of: database)
  }
}

extension Connection {
  /// Prepares a connection to a file that nobody else knows of and that is worthless after a crash.
  func beginImage(
    of database: String, pageByteCount: Int, pageCacheByteCount: Int
  ) throws(UpsurgeError) {
    if isNewDatabase { try execute("PRAGMA page_size=\(pageByteCount)") }
    try undefended("PRAGMA journal_mode=OFF")
    try execute(
      """
      PRAGMA synchronous=OFF; PRAGMA cache_size=-\(max(pageCacheByteCount >> 10, 64));
      PRAGMA temp_store=MEMORY; PRAGMA secure_delete=OFF; PRAGMA foreign_keys=ON;
      """)
    durability = .off
    self.pageCacheByteCount = pageCacheByteCount
    if !isNewDatabase { return }
    // Both at once, so that there is no other image than an empty file and one with both.
    try execute(
      """
      BEGIN; PRAGMA application_id=\(ImageFile.mark); PRAGMA user_version=\(ImageFile.nameMark(of: database));
      COMMIT
      """)
  }

  /// Takes the marks away that a database has from the image that it was; writes nothing where there are none.
  package func endImage() throws(UpsurgeError) {
    guard try integer("PRAGMA main.application_id") == Int64(ImageFile.mark) else { return }
    try beginWriting()
    do throws(UpsurgeError) {
      try execute("PRAGMA main.application_id=0; PRAGMA main.user_version=0; COMMIT")
    } catch {
      try? execute("ROLLBACK")
      throw error
    }
  }
}
