import SQLiteSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeSQLite
@testable import UpsurgeState
@testable import UpsurgeStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The file beside the database, and how it becomes the database.
@Suite struct ImageFileTests {
  private let packing = Packing("CREATE TABLE t(a, b)", ["a", "b"])
  private let rows: [[Value]] = (0..<500).map { [.integer(Int64($0)), .text("row \($0)")] }

  private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  private func pack(_ image: ImageFile) throws {
    var table = try DirectTable(packing.layout(image), image: image)
    var maker = BatchMaker(packing.columns)
    #expect(try table.append(maker.batch(rows)))
    #expect(try table.finish())
  }

  private func expectRows(_ path: String) throws {
    let connection = try Connection(path: path, createIfMissing: false)
    #expect(try connection.text("PRAGMA integrity_check") == "ok")
    #expect(try connection.rows("SELECT a, b FROM t") == rows)
    #expect(!exists(path + ImageFile.suffix))
  }

  /// By each way, also over an empty file, which only SQLite can fill.
  @Test(arguments: [[HandOverWay.rename, .link], [.link], []], [false, true]) func itBecomesTheDatabase(
    _ ways: [HandOverWay], _ isEmptyThere: Bool
  ) throws {
    let database = TemporaryDatabase()
    if isEmptyThere { close(open(database.path, O_CREAT | O_WRONLY, 0o644)) }
    let image = try ImageFile.make(for: database.path)
    try pack(image)
    #expect(exists(database.path) == isEmptyThere)
    try image.handOver(isSynced: true, by: ways)
    try expectRows(database.path)
    try exercise(database, "\(ways)")
  }

  /// SQLite's old files would be played back into the new database.
  @Test(arguments: ["-journal", "-wal"]) func anOldJournalIsNotPlayedBack(_ suffix: String) throws {
    let database = TemporaryDatabase()
    let other = TemporaryDatabase()
    let copy = Array((other.path + suffix).utf8)
    do {
      // What a killed process leaves.
      let connection = try Connection(path: other.path, createIfMissing: true)
      try connection.execute(
        "PRAGMA page_size=4096; PRAGMA journal_mode=\(suffix == "-wal" ? "WAL" : "DELETE"); CREATE TABLE old(x)"
      )
      try connection.execute(
        "PRAGMA cache_spill=1; PRAGMA cache_size=1; BEGIN; INSERT INTO old SELECT zeroblob(9000) FROM (SELECT 1 UNION SELECT 2 UNION SELECT 3)"
      )
      if suffix == "-wal" { try connection.execute("COMMIT") }
      try copyFile(String(decoding: copy, as: UTF8.self), to: database.path + suffix)
    }
    #expect(DiskSpace.size(of: database.path + suffix) > 512)
    let image = try ImageFile.make(for: database.path)
    try pack(image)
    try image.handOver(isSynced: false)
    try expectRows(database.path)
  }

  private func copyFile(_ source: String, to target: String) throws {
    let from = open(source, O_RDONLY)
    let to = open(target, O_CREAT | O_WRONLY, 0o644)
    defer {
      close(from)
      close(to)
    }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = read(from, &bytes, bytes.count)
    #expect(write(to, bytes, count) == count)
  }

  /// Another program was faster: its database stays as it is.
  @Test(arguments: [[HandOverWay.rename], [.link], []]) func nothingIsOverwritten(_ ways: [HandOverWay])
    throws
  {
    let database = TemporaryDatabase()
    let image = try ImageFile.make(for: database.path)
    try pack(image)
    let other = try Connection(path: database.path, createIfMissing: true)
    try other.execute("CREATE TABLE theirs(x)")
    do throws(UpsurgeError) {
      try image.handOver(isSynced: false, by: ways)
      Issue.record("it was overwritten")
    } catch {
      #expect(
        error.description == """
          another program has made the database \(database.path) meanwhile
            fix: nothing is stored; run again, and the records go into what it has made
          """)
      #expect(error.code == .databaseBusy)
    }
    #expect(try other.rows("SELECT name FROM sqlite_schema") == [["theirs"]])
    image.discard()
    #expect(!exists(image.path))
  }

  /// An empty file that another program is just writing to is waited for.
  @Test(arguments: [true, false]) func anotherWriterIsWaitedFor(_ isCommitted: Bool) throws {
    let database = TemporaryDatabase()
    let other = try Connection(path: database.path, createIfMissing: true)
    try other.execute("BEGIN IMMEDIATE; CREATE TABLE theirs(x)")
    let image = try ImageFile.make(for: database.path)
    try pack(image)
    do throws(UpsurgeError) {
      try image.handOver(isSynced: false, busyTimeoutMilliseconds: 50)
      Issue.record("the lock was passed over")
    } catch {
      #expect(error.code == .databaseBusy)
      #expect(error.message.hasPrefix("the database \(database.path) is in use by another program"))
    }
    try other.execute(isCommitted ? "COMMIT" : "ROLLBACK")
    if isCommitted {
      #expect(throws: UpsurgeError.self) { try image.handOver(isSynced: false) }
      #expect(try other.rows("SELECT name FROM sqlite_schema") == [["theirs"]])
    } else {
      try image.handOver(isSynced: false)
      try expectRows(database.path)
    }
  }

  /// What a killed run leaves is removed: at any stage of the making, and as a second name of the database.
  @Test func whatAKilledRunLeavesIsRemoved() throws {
    let database = TemporaryDatabase()
    let path = database.path + ImageFile.suffix
    for content in [[], Self.header(of: database.path)] {
      let file = open(path, O_CREAT | O_WRONLY, 0o644)
      #expect(write(file, content, content.count) == content.count)
      close(file)
      close(open(path + "-journal", O_CREAT | O_WRONLY, 0o644))
      let image = try ImageFile.make(for: database.path)
      #expect(try image.byteCount() == 0)
      #expect(!exists(path + "-journal"))
      image.discard()
      #expect(!exists(path))
    }
    try packing.run(rows, into: database)
    #expect(link(database.path, path) == 0)
    try ImageFile.removeStale(for: database.path)
    try expectRows(database.path)
    try ImageFile.removeStale(for: database.path)
    #expect(link(database.path, path) == 0)
    let image = try ImageFile.make(for: database.path)
    image.discard()
    try expectRows(database.path)
  }

  /// The first page of an image, as far as it tells.
  private static func header(of database: String) -> [UInt8] {
    var page = [UInt8](repeating: 0, count: 4096)
    page.replaceSubrange(0..<16, with: Array("SQLite format 3\0".utf8))
    page.replaceSubrange(68..<72, with: Array("upsr".utf8))
    let name = UInt32(bitPattern: ImageFile.nameMark(of: database))
    page.replaceSubrange(60..<64, with: [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: name >> $0) })
    return page
  }

  /// An image is known from the first on, by the name of its database, until the marks are taken away.
  @Test func anImageIsKnown() throws {
    let database = TemporaryDatabase()
    let image = try ImageFile.make(for: database.path)
    #expect(ImageFile.isImage(image.descriptor, of: database.path))
    try pack(image)
    #expect(ImageFile.isImage(image.descriptor, of: database.path))
    #expect(!ImageFile.isImage(image.descriptor, of: database.path + "x"))
    let name = database.path.split(separator: "/").last.map(String.init) ?? ""
    #expect(ImageFile.isImage(image.descriptor, of: "elsewhere/\(name)"))
    try image.handOver(isSynced: false)
    let connection = try Connection(path: database.path, createIfMissing: false)
    for _ in 0..<2 {
      try connection.endImage()
      #expect(try connection.integer("PRAGMA application_id") == 0)
      #expect(try connection.integer("PRAGMA user_version") == 0)
    }
    try expectRows(database.path)
  }

  /// A database whose name is that of another one's image: it has held runs, and was an image of its own.
  @Test func aDatabaseOfThatNameStays() throws {
    let database = TemporaryDatabase()
    let theirs = database.path + ImageFile.suffix
    let image = try ImageFile.make(for: theirs)
    try pack(image)
    try image.handOver(isSynced: false)
    defer { unlink(theirs) }
    for hasRuns in [false, true] {
      if hasRuns {
        let connection = try Connection(path: theirs, createIfMissing: false)
        try connection.endImage()
        try connection.execute("CREATE TABLE upsurge_runs(a); DROP TABLE upsurge_runs")
      }
      #expect(throws: UpsurgeError.self) { try ImageFile.removeStale(for: database.path) }
      #expect(throws: UpsurgeError.self) { try ImageFile.make(for: database.path) }
      let connection = try Connection(path: theirs, createIfMissing: false)
      #expect(try connection.rows("SELECT a, b FROM t") == rows)
    }
  }

  @Test func aFileThatIsNotOursStays() throws {
    let database = TemporaryDatabase()
    let path = database.path + ImageFile.suffix
    for kind in ["text", "zeros", "database", "link"] {
      if kind == "link" {
        #expect(symlink("/etc/passwd", path) == 0)
      } else if kind == "database" {
        // Somebody's backup, for example.
        let theirs = try Connection(path: path, createIfMissing: true)
        try theirs.execute("CREATE TABLE theirs(x)")
      } else {
        let file = open(path, O_CREAT | O_WRONLY, 0o644)
        let text = kind == "zeros" ? [UInt8](repeating: 0, count: 4096) : Array("my own notes".utf8)
        #expect(write(file, text, text.count) == text.count)
        close(file)
      }
      do throws(UpsurgeError) {
        _ = try ImageFile.make(for: database.path)
        Issue.record("it was taken away")
      } catch {
        #expect(error.code == .cannotCreate)
        #expect(
          error.description == """
            \(path) is in the way: \(database.path) is to be prepared there
              fix: move it elsewhere; it is no database that an earlier run has left
            """)
      }
      var status = stat()
      #expect(lstat(path, &status) == 0)
      unlink(path)
    }
  }

  /// A second run that makes the same database is told so, and disturbs nothing.
  @Test func twoRunsDoNotShareTheFile() throws {
    let database = TemporaryDatabase()
    let image = try ImageFile.make(for: database.path)
    do throws(UpsurgeError) {
      _ = try ImageFile.make(for: database.path)
      Issue.record("two runs write one file")
    } catch {
      #expect(error.code == .databaseBusy)
      #expect(
        error.description == """
          another process is making the database \(database.path): it writes \(image.path)
            fix: wait until it has ended, then run again
          """)
    }
    try pack(image)
    try image.handOver(isSynced: false)
    try expectRows(database.path)
  }

  @Test func aMissingFolderIsTold() throws {
    do throws(UpsurgeError) {
      _ = try ImageFile.make(for: "/nowhere/at/all.db")
      Issue.record("it was made")
    } catch {
      #expect(
        error.description == """
          cannot make /nowhere/at/all.db-upsurge, in which the database is prepared: No such file or directory
            fix: the folder of /nowhere/at/all.db must exist and be writable
          """)
    }
  }

  /// A file that was replaced is not handed over, nor removed.
  @Test func aReplacedFileIsNotHandedOver() throws {
    let database = TemporaryDatabase()
    let image = try ImageFile.make(for: database.path)
    try pack(image)
    unlink(image.path)
    close(open(image.path, O_CREAT | O_WRONLY, 0o644))
    #expect(throws: UpsurgeError.self) { try image.handOver(isSynced: false) }
    image.discard()
    #expect(exists(image.path))
    #expect(!exists(database.path))
  }

  #if os(Linux)
    /// A full disk: the error names the file and what helps.
    @Test func aFullDiskIsTold() throws {
      let full = open("/dev/full", O_RDWR)
      let image = ImageFile(database: "new.db", path: "/nowhere/new.db-upsurge", descriptor: full)
      do throws(UpsurgeError) {
        try image.write("0123456789", 10, at: 4096)
        Issue.record("it was written")
      } catch {
        #expect(
          error.description == """
            there is no room left for /nowhere/new.db-upsurge, which is to become the database \
            (No space left on device, system error 28); nothing is stored
              fix: make room where the database lies, then run again
            """)
        #expect(error.code == .database)
      }
    }
  #endif

  /// What SQLite has not just made is not appended to.
  @Test(arguments: ["a row", "a byte", "another format", "no database"]) func otherFilesAreRefused(
    _ change: String
  ) throws {
    let database = TemporaryDatabase()
    let image = try ImageFile.make(for: database.path)
    let layout = try packing.layout(image)
    switch change {
    case "a row": try image.connect().execute("INSERT INTO t VALUES(1, 2)")
    case "a byte": try image.write("x", 1, at: image.byteCount())
    case "another format": try image.write([0, 0, 0, 1], 4, at: 44)
    default: try image.write("no database at all", 16, at: 0)
    }
    do throws(UpsurgeError) {
      _ = try DirectTable(layout, image: image)
      Issue.record("it was taken")
    } catch {
      #expect(error.code == .database)
      #expect(
        error.message
          == (change == "a row"
            ? "the table t of \(image.path) has rows"
            : "the file \(image.path) is not as SQLite makes a new database"))
    }
  }
}
