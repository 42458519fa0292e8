import CSQLite
import UpsurgeRecords

/// The pages of a database file that nobody has open, appended in large writes; used by one thread.
///
/// Pages go to the end of the file in the order in which they are taken. The page that holds the byte at 2^30 is left
/// out, as SQLite locks bytes there (https://www.sqlite.org/fileformat2.html#lockbyte). What the file says of itself
/// holds only after `finish`.
final class PageFile {
  let pageByteCount: Int
  /// The page's size without what is reserved at its end.
  let usableByteCount: Int
  /// The pages of the file, those that wait in memory included.
  private(set) var pageCount: UInt32

  private let image: ImageFile
  private let lockBytePage: UInt32
  private let buffer: UnsafeMutableRawPointer
  private let bufferedPageLimit: Int
  private var bufferedPageCount = 0
  private var firstBuffered: UInt32 = 0
  private var header: FileHeader
  private let isSynced: Bool

  /// Bytes that are written at once, where a page is not larger.
  static let bufferByteCount = 1 << 20
  /// SQLite's own default (`SQLITE_MAX_PAGE_COUNT`).
  private static let pageLimit: UInt32 = 0x3FFF_FFFE

  /// - Parameter isSynced: whether the file will be brought to the disk in the end, so that it is good to begin early.
  /// - Throws: `database` when the file cannot be read or is not as a new database of SQLite's is.
  init(_ image: ImageFile, isSynced: Bool) throws(UpsurgeError) {
    self.image = image
    self.isSynced = isSynced
    header = try FileHeader(image)
    pageByteCount = header.pageByteCount
    usableByteCount = header.usableByteCount
    pageCount = header.pageCount
    lockBytePage = UInt32(0x4000_0000 / header.pageByteCount + 1)
    bufferedPageLimit = max(PageFile.bufferByteCount / header.pageByteCount, 1)
    buffer = .allocate(byteCount: bufferedPageLimit * header.pageByteCount, alignment: 4096)
  }

  deinit { buffer.deallocate() }

  /// Bytes that are allocated.
  var memoryByteCount: Int { bufferedPageLimit * pageByteCount }

  /// The page that comes after another when it is taken right after it.
  @inline(__always)
  func number(after page: UInt32) -> UInt32 { page + 1 == lockBytePage ? page + 2 : page + 1 }

  /// The next page of the file, to be filled whole before another is taken.
  func takePage() throws(UpsurgeError) -> (number: UInt32, memory: UnsafeMutableRawPointer) {
    let number = number(after: pageCount)
    if number > PageFile.pageLimit {
      throw UpsurgeError(
        .database, "the database \(image.database.escapedForTerminal) has as many pages as there can be",
        hint: "load less into one database")
    }
    if bufferedPageCount == bufferedPageLimit || number != firstBuffered + UInt32(bufferedPageCount) {
      try flush()
      firstBuffered = number
    }
    let memory = buffer + bufferedPageCount * pageByteCount
    bufferedPageCount += 1
    pageCount = number
    return (number, memory)
  }

  /// Appends a page.
  /// - Returns: its number.
  func append(_ page: UnsafeRawPointer) throws(UpsurgeError) -> UInt32 {
    let (number, memory) = try takePage()
    memory.copyMemory(from: page, byteCount: pageByteCount)
    return number
  }

  /// Writes a page that the file had from the start.
  func write(_ page: UnsafeRawPointer, at number: UInt32) throws(UpsurgeError) {
    try image.write(page, pageByteCount, at: Int(number - 1) * pageByteCount)
  }

  /// Whether a page is the root of a tree without entries.
  func isEmptyRoot(_ number: UInt32) throws(UpsurgeError) -> Bool {
    var start: (UInt8, UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 0, 0)
    try withUnsafeMutableBytes(of: &start) { (bytes) throws(UpsurgeError) in
      try image.read(bytes, at: Int(number - 1) * pageByteCount)
    }
    let isLeaf = start.0 == TreePage.Kind.leafTable.rawValue || start.0 == TreePage.Kind.leafIndex.rawValue
    return isLeaf && start.3 == 0 && start.4 == 0
  }

  /// Writes what waits, and says in the file how many pages it has.
  func finish() throws(UpsurgeError) {
    try flush()
    header.pageCount = pageCount
    try header.write(to: image)
  }

  private func flush() throws(UpsurgeError) {
    if bufferedPageCount == 0 { return }
    try image.grace?.check()
    let offset = Int(firstBuffered - 1) * pageByteCount
    let byteCount = bufferedPageCount * pageByteCount
    try image.write(buffer, byteCount, at: offset)
    if isSynced { upsurge_begin_writeback(image.descriptor, Int64(offset), Int64(byteCount)) }
    bufferedPageCount = 0
  }
}
