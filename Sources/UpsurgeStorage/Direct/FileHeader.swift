import UpsurgeRecords

/// The first bytes of a database file (https://www.sqlite.org/fileformat2.html#the_database_header).
struct FileHeader {
  let pageByteCount: Int
  let usableByteCount: Int
  var pageCount: UInt32

  private var bytes: [UInt8]

  private enum Offset {
    static let pageByteCount = 16
    static let reservedByteCount = 20
    static let changeCounter = 24
    static let pageCount = 28
    static let schemaFormat = 44
    static let largestRoot = 52
    static let encoding = 56
    static let validFor = 92
  }

  /// - Throws: `database` when it is no header, or one of a file that is not for us to append to.
  init(_ image: ImageFile) throws(UpsurgeError) {
    var bytes = [UInt8](repeating: 0, count: 100)
    try bytes.withUnsafeMutableBufferPointer { (buffer) throws(UpsurgeError) in
      try image.read(UnsafeMutableRawBufferPointer(buffer), at: 0)
    }
    func number(_ offset: Int) -> UInt32 {
      bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
    let size = Int(bytes[Offset.pageByteCount]) << 8 | Int(bytes[Offset.pageByteCount + 1])
    pageByteCount = size == 1 ? 65536 : size
    usableByteCount = pageByteCount - Int(bytes[Offset.reservedByteCount])
    pageCount = number(Offset.pageCount)
    let isSound = bytes.starts(with: "SQLite format 3\0".utf8) && pageByteCount >= 512
    // 0 and 1 have a serial type of their own from format 4 on; text is taken as UTF-8; there must be no pointer map.
    guard isSound, number(Offset.schemaFormat) == 4, number(Offset.encoding) == 1,
      number(Offset.largestRoot) == 0, number(Offset.changeCounter) == number(Offset.validFor),
      try image.byteCount() == Int(pageCount) * pageByteCount
    else {
      throw UpsurgeError(
        .database, "the file \(image.path.escapedForTerminal) is not as SQLite makes a new database",
        hint: "another program must not touch it; run again")
    }
    self.bytes = bytes
  }

  /// Writes the header back with the number of pages.
  func write(to image: ImageFile) throws(UpsurgeError) {
    var bytes = bytes
    for at in 0..<4 { bytes[Offset.pageCount + at] = UInt8(truncatingIfNeeded: pageCount >> (24 - 8 * at)) }
    try bytes.withUnsafeBufferPointer { (buffer) throws(UpsurgeError) in
      guard let start = buffer.baseAddress else { return }
      try image.write(start, buffer.count, at: 0)
    }
  }
}
