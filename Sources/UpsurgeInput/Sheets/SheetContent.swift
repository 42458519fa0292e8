import UpsurgeRecords

/// A sheet of a workbook as the text of records, read from its start, and again. See `SheetText`.
final class SheetContent: MemberContent {
  /// The file and the sheet.
  let path: ArchivePath
  let stamp: ArchiveFile.Stamp
  private let book: Workbook
  private let sheet: Workbook.Sheet
  private let part: String
  private let texts: WorkbookTexts
  private let ratioLimit: RatioLimit?
  private let memory: UnsafeMutableRawBufferPointer

  private var reader: any SheetReader
  private var content: ArchiveContent
  private var isSuspended = false
  /// Whether the last bytes of the sheet were fed.
  private var isFed = false
  private var isAtEnd = false
  private(set) var offset: UInt64 = 0
  var cancellation: ReadCancellation? { didSet { content.cancellation = cancellation } }

  /// The XML of the sheet.
  var byteCount: UInt64? { content.byteCount }
  private(set) var readByteCount: UInt64 = 0
  /// What is to be said of the sheet as far as it was read.
  var notes: SheetNotes { reader.notes }

  /// - Parameter path: the workbook, and the name of the sheet or its number.
  /// - Throws: `unreadableInput` where there is no such sheet, or a library is missing; `badInput`.
  init?(
    _ path: ArchivePath, followsLinks: Bool, of archives: OpenArchives?, cancellation: ReadCancellation?
  ) throws(UpsurgeError) {
    let archives = archives ?? OpenArchives()
    guard let stamp = ArchiveFile.Stamp(path: path.archive),
      let book = try Workbook(
        path.archive, followsLinks: followsLinks, archives: archives, cancellation: cancellation)
    else { return nil }
    sheet = try book.sheet(path.member.isEmpty ? archives.sheet : path.member)
    guard let part = sheet.part else {
      throw WorkbookFault.broken(
        path.archive, "nothing says where the sheet \(sheet.name.escapedForTerminal) is")
    }
    self.path = ArchivePath(archive: path.archive, member: sheet.name)
    (self.book, self.part, self.stamp, self.cancellation) = (book, part, stamp, cancellation)
    texts = try book.texts()
    ratioLimit = archives.maximumRatio.map { RatioLimit(ratio: $0) }
    reader = try Self.reader(book, sheet, self.path, texts)
    content = try book.open(part)
    memory = .allocate(byteCount: 64 << 10, alignment: 16)
    try checkStamp()
  }

  deinit { memory.deallocate() }

  private static func reader(
    _ book: Workbook, _ sheet: Workbook.Sheet, _ path: ArchivePath, _ texts: WorkbookTexts
  ) throws(UpsurgeError) -> any SheetReader {
    let lines = SheetLines(path.text, byteLimit: book.archives.textByteLimit)
    switch book.kind {
    case .excel: return try XMLReading(path.text, ExcelSheet(lines, texts, is1904: book.is1904))
    case .openDocument: return try XMLReading(path.text, OpenDocumentSheet(lines, sheet))
    }
  }

  /// - Throws: `badInput` where the file has become another one: its cells would name texts and formats of this one.
  private func checkStamp() throws(UpsurgeError) {
    if content.stamp != stamp { throw WorkbookFault.changed(path.text) }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int {
    while true {
      let count = reader.take(into: buffer)
      if count > 0 {
        offset += UInt64(count)
        try ratioLimit?.check(name: path.text, decodedByteCount: offset, readByteCount: stamp.byteCount)
        return count
      }
      if isAtEnd { return 0 }
      try readMore()
    }
  }

  /// Reads the next part of the sheet.
  private func readMore() throws(UpsurgeError) {
    if cancellation?.isRequested == true { throw .interrupted(path.text) }
    let outcome: XMLReader.Outcome
    if isSuspended {
      outcome = try reader.resume()
    } else {
      let count = try readXML()
      isFed = count == 0
      outcome = try reader.feed(UnsafeRawBufferPointer(rebasing: memory[..<count]))
    }
    isSuspended = outcome == .suspended
    guard outcome == .stopped || isFed && !isSuspended else { return }
    reader.end()
    isAtEnd = true
    // Only at its end it shows whether the part is whole.
    while !isFed { isFed = try readXML() == 0 }
  }

  private func readXML() throws(UpsurgeError) -> Int {
    let count = try content.read(into: memory)
    readByteCount += UInt64(count)
    return count
  }

  var standsNowhere: Bool { false }

  func restart() throws(UpsurgeError) {
    reader = try Self.reader(book, sheet, path, texts)
    content = try book.open(part)
    content.cancellation = cancellation
    (isSuspended, isFed, isAtEnd) = (false, false, false)
    (offset, readByteCount) = (0, 0)
    try checkStamp()
  }

  var hasChanged: Bool { ArchiveFile.Stamp(path: path.archive) != stamp }

  func identity() throws(UpsurgeError) -> FileIdentity {
    try ArchiveFile(path.archive, followsLinks: book.followsLinks, cancellation: cancellation).identity(
      of: "\(path.member)\nsheet")
  }
}
