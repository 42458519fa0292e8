import UpsurgeRecords

/// A sheet of a workbook as the text of records, read from its start, and again. See `SheetText`.
final class SheetContent: MemberContent {
  /// The file and the sheet.
  let path: ArchivePath
  let stamp: ArchiveFile.Stamp
  private let book: Workbook
  private let sheet: Workbook.Sheet
  private let strings: SharedStrings
  private let formats: [CellFormat]
  private let ratioLimit: RatioLimit?
  private let memory: UnsafeMutableRawBufferPointer

  private var visitor: SheetVisitor
  private var reader: XMLReader
  private var part: ArchiveContent
  private var isSuspended = false
  private var isAtEnd = false
  private(set) var offset: UInt64 = 0
  var cancellation: ReadCancellation? { didSet { part.cancellation = cancellation } }

  var byteCount: UInt64? { nil }
  /// What is to be said of the sheet as far as it was read.
  var notes: SheetNotes { visitor.notes }

  /// - Parameter member: the name of the sheet, or its number.
  /// - Throws: `unreadableInput` where there is no such sheet, or a library is missing; `badInput`.
  init?(
    _ path: ArchivePath, followsLinks: Bool, of archives: OpenArchives?, cancellation: ReadCancellation?
  ) throws(UpsurgeError) {
    let archives = archives ?? OpenArchives()
    guard
      let book = try Workbook(path.archive, followsLinks: followsLinks, archives: archives, cancellation: cancellation),
      let stamp = ArchiveFile.Stamp(path: path.archive)
    else { return nil }
    sheet = try book.sheet(path.member.isEmpty ? archives.sheet : path.member)
    self.path = ArchivePath(archive: path.archive, member: sheet.name)
    (self.book, self.stamp, self.cancellation) = (book, stamp, cancellation)
    strings = try book.strings()
    formats = try book.formats()
    ratioLimit = archives.maximumRatio.map { RatioLimit(ratio: $0) }
    visitor = Self.visitor(book, sheet, self.path, strings, formats)
    reader = try XMLReader(self.path.text, visitor: visitor)
    part = try book.open(sheet.part)
    memory = .allocate(byteCount: 64 << 10, alignment: 16)
  }

  deinit { memory.deallocate() }

  private static func visitor(
    _ book: Workbook, _ sheet: Workbook.Sheet, _ path: ArchivePath, _ strings: SharedStrings, _ formats: [CellFormat]
  ) -> SheetVisitor {
    let limit = book.archives.textByteLimit
    switch book.kind {
    case .excel:
      return ExcelSheet(name: path.text, strings: strings, formats: formats, is1904: book.is1904, byteLimit: limit)
    case .openDocument: return OpenDocumentSheet(name: path.text, sheet: sheet.name, byteLimit: limit)
    }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int {
    while true {
      let count = visitor.rows.take(into: buffer)
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
    var isLast = false
    if isSuspended {
      outcome = try reader.resume()
    } else {
      let count = try part.read(into: memory)
      isLast = count == 0
      outcome = try reader.feed(UnsafeRawBufferPointer(rebasing: memory[..<count]))
    }
    isSuspended = outcome == .suspended
    if outcome == .stopped || isLast && !isSuspended || isFinal && outcome == .more {
      visitor.rows.end()
      isAtEnd = true
    }
    isFinal = isFinal || isLast
  }

  /// Whether the last bytes of the sheet were fed.
  private var isFinal = false

  var standsNowhere: Bool { false }

  func restart() throws(UpsurgeError) {
    visitor = Self.visitor(book, sheet, path, strings, formats)
    reader = try XMLReader(path.text, visitor: visitor)
    part = try book.open(sheet.part)
    part.cancellation = cancellation
    (isSuspended, isAtEnd, isFinal, offset) = (false, false, false, 0)
  }

  var hasChanged: Bool { ArchiveFile.Stamp(path: path.archive) != stamp }

  func identity() throws(UpsurgeError) -> FileIdentity {
    try ArchiveFile(path.archive, followsLinks: book.followsLinks, cancellation: cancellation).identity(of: "\(path.member)\nsheet")
  }
}
