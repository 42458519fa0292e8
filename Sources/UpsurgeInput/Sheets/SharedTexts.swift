import UpsurgeRecords

/// The texts that cells name by their number, one after the other, each after its length. What does not fit in memory goes to a
/// file, of which a few pages are in memory.
///
///     2 i d  3 A n n  7 B e n n e t t  …     the place of each sixteenth text is known; others are found from there
struct SharedTexts: @unchecked Sendable {
  // Sendable because one thread at a time has it: who shares it holds a lock meanwhile.

  /// How many there are.
  private(set) var count = 0
  private var places: [Int] = []
  /// The texts, or those that are not in the file yet.
  private var bytes: [UInt8] = []
  private var file: TextFile?
  /// The text that was found last, and where it is: cells name most texts in their order.
  private var last = (index: 0, place: 0)

  private let name: String
  private let byteLimit: Int
  private let makeSpool: @Sendable () -> SpoolFile

  private static let stride = 16
  private static let blockByteCount = 256 << 10

  /// - Parameters:
  ///   - byteLimit: what they may take in memory.
  ///   - makeSpool: makes the file, where there has to be one.
  init(name: String, byteLimit: Int, makeSpool: @escaping @Sendable () -> SpoolFile) {
    (self.name, self.byteLimit, self.makeSpool) = (name, byteLimit, makeSpool)
  }

  /// Bytes that are in memory.
  var memoryByteCount: Int {
    bytes.count + places.count * MemoryLayout<Int>.size + (file?.memoryByteCount ?? 0)
  }

  // MARK: - Writing

  /// Takes the next text.
  /// - Throws: `badInput` for more than any workbook has; `cannotCreate` where there is no room.
  mutating func append(_ text: [UInt8]) throws(UpsurgeError) {
    if count % Self.stride == 0 { places.append((file?.byteCount ?? 0) + bytes.count) }
    count += 1
    var length = text.count
    while length >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: length) | 0x80)
      length >>= 7
    }
    bytes.append(UInt8(length))
    bytes += text
    if let file {
      if bytes.count >= min(Self.blockByteCount, byteLimit / 4) { try spill(to: file) }
    } else if memoryByteCount > byteLimit {
      let file = TextFile(makeSpool(), name: name, memoryByteLimit: byteLimit / 8)
      self.file = file
      try spill(to: file)
    }
  }

  /// Ends the texts.
  mutating func end() throws(UpsurgeError) {
    if let file { try spill(to: file) }
  }

  private mutating func spill(to file: TextFile) throws(UpsurgeError) {
    try file.append(bytes)
    bytes = []
    if file.byteCount > WorkbookFault.Share.texts.limit(byteLimit)
      || places.count * MemoryLayout<Int>.size > byteLimit / 2
    {
      throw WorkbookFault.tooLarge(name, "the shared texts", .texts, byteLimit: byteLimit)
    }
  }

  // MARK: - Reading

  /// Appends the text with a number, from 0, to others.
  /// - Throws: `unreadableInput` where the file cannot be read.
  mutating func read(_ index: Int, into text: inout [UInt8]) throws(UpsurgeError) {
    precondition(index >= 0 && index < count, "a text that is there is asked for")
    var (at, next) = (places[index / Self.stride], index - index % Self.stride)
    if last.index <= index && last.index > next { (next, at) = (last.index, last.place) }
    while true {
      let place = at
      let length = try length(&at)
      if next == index {
        last = (index, place)
        return try copy(at..<at + length, into: &text)
      }
      at += length
      next += 1
    }
  }

  private func length(_ at: inout Int) throws(UpsurgeError) -> Int {
    var (length, shift) = (0, 0)
    while true {
      let byte = if let file { try file.bytes(from: at)[0] } else { bytes[at] }
      at += 1
      length |= Int(byte & 0x7F) << shift
      if byte < 0x80 { return length }
      shift += 7
    }
  }

  private func copy(_ range: Range<Int>, into text: inout [UInt8]) throws(UpsurgeError) {
    if let file { try file.copy(range, into: &text) } else { text += bytes[range] }
  }
}

/// Texts in a file, and the pages of it that were used last.
private final class TextFile {
  private let spool: SpoolFile
  private let name: String
  private let memory: UnsafeMutableRawBufferPointer
  /// The page in each place of the memory; -1 where it has not got one.
  private var pages: [Int]

  private static let pageByteCount = 16 << 10

  init(_ spool: SpoolFile, name: String, memoryByteLimit: Int) {
    (self.spool, self.name) = (spool, name)
    pages = Array(repeating: -1, count: max(memoryByteLimit / Self.pageByteCount, 4))
    memory = .allocate(byteCount: pages.count * Self.pageByteCount, alignment: 16)
  }

  deinit { memory.deallocate() }

  var byteCount: Int { Int(clamping: spool.byteCount) }
  var memoryByteCount: Int { memory.count }

  func append(_ bytes: [UInt8]) throws(UpsurgeError) {
    if bytes.isEmpty { return }
    try bytes.withUnsafeBufferPointer { bytes throws(UpsurgeError) in
      try spool.append(UnsafeRawBufferPointer(bytes), name: name)
    }
  }

  func copy(_ range: Range<Int>, into text: inout [UInt8]) throws(UpsurgeError) {
    var at = range.lowerBound
    while at < range.upperBound {
      let part = try bytes(from: at).prefix(range.upperBound - at)
      text += UnsafeRawBufferPointer(rebasing: part)
      at += part.count
    }
  }

  /// The bytes from a place on, as far as its page goes. Valid until others are asked for.
  func bytes(from at: Int) throws(UpsurgeError) -> UnsafeRawBufferPointer {
    let page = at / Self.pageByteCount
    let start = (page % pages.count) * Self.pageByteCount
    if pages[page % pages.count] != page { try read(page, at: start) }
    return UnsafeRawBufferPointer(
      rebasing: memory[start + at % Self.pageByteCount..<start + Self.pageByteCount])
  }

  private func read(_ page: Int, at start: Int) throws(UpsurgeError) {
    pages[page % pages.count] = -1
    let offset = page * Self.pageByteCount
    let end = min(Self.pageByteCount, byteCount - offset)
    var count = 0
    while count < end {
      let rest = UnsafeMutableRawBufferPointer(rebasing: memory[start + count..<start + end])
      count += try spool.read(into: rest, at: UInt64(offset + count), name: name)
    }
    pages[page % pages.count] = page
  }
}
