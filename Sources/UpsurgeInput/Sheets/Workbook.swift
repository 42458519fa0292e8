import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file of sheets: a zip archive of XML, as Excel (.xlsx) or LibreOffice (.ods) writes it.
struct Workbook {
  enum Kind: String {
    case excel = "xlsx"
    case openDocument = "ods"
  }

  /// One sheet with cells. The list has no charts, and no dialogs.
  struct Sheet: Sendable {
    var name: String
    var isHidden: Bool
    /// The place of the sheet in the workbook, from 1.
    var number: Int
    /// The member of the archive that it is in; nil where the workbook does not say it.
    var part: String?
  }

  let path: String
  let kind: Kind
  let followsLinks: Bool
  let archives: OpenArchives
  let cancellation: ReadCancellation?
  private let parts: PartNames
  /// In the order of their tabs. An .ods file says what it has only as it is read.
  var sheets: [Sheet] = []
  var is1904 = false
  var stylesPart: String?
  var stringsPart: String?

  /// Opens a file; nil for what is no workbook.
  /// - Throws: `badInput` for a document of another kind, for an encrypted one, and for one that is not whole.
  init?(
    _ path: String, followsLinks: Bool, archives: OpenArchives, cancellation: ReadCancellation?
  ) throws(UpsurgeError) {
    let listing = try ArchiveListing.of(
      path, followsLinks: followsLinks, within: archives, cancellation: cancellation)
    guard let listing, let kind = Self.kind(of: listing) else { return nil }
    (self.path, self.kind, self.followsLinks, self.archives) = (path, kind, followsLinks, archives)
    (parts, self.cancellation) = (PartNames(listing), cancellation)
    switch kind {
    case .excel: try readExcel()
    case .openDocument: try checkOpenDocument()
    }
  }

  /// Whether a member's name is the mark of an office document.
  private static func kind(of listing: ArchiveListing) -> Kind? {
    if listing.kind != .zip { return nil }
    if listing.has("[Content_Types].xml") { return .excel }
    guard listing.has("mimetype"), listing.has("META-INF/manifest.xml") else { return nil }
    // All of an encrypted one may be in one member.
    return listing.has("content.xml") || listing.has("encrypted-package") ? .openDocument : nil
  }

  /// A sheet as a source.
  func source(_ sheet: Sheet) -> Source {
    let place = ArchivePath(archive: path, member: sheet.name)
    if let part = sheet.part, let byteCount = parts.byteCount(of: part) { SheetSizes.note(place, byteCount) }
    return Source(file: place.text)
  }

  // MARK: - Parts

  /// The member with a name, in any case of letters.
  func part(_ name: String) -> String? { parts.find(name) }

  /// - Throws: `unreadableInput` where it is not there; `badInput`.
  func open(_ part: String) throws(UpsurgeError) -> ArchiveContent {
    try ArchiveContent(
      ArchivePath(archive: path, member: part), followsLinks: followsLinks, of: archives,
      cancellation: cancellation)
  }

  /// Reads a part to its end, or as far as the visitor wants it.
  /// - Returns: the visitor as it is then.
  func read<Visitor: XMLVisitor>(_ part: String, _ visitor: Visitor) throws(UpsurgeError) -> Visitor {
    let content = try open(part)
    let reader = try XMLReading(content.path.text, visitor)
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    defer { memory.deallocate() }
    while true {
      let count = try content.read(into: memory)
      var outcome = try reader.feed(UnsafeRawBufferPointer(rebasing: memory[..<count]))
      while outcome == .suspended { outcome = try reader.resume() }
      if count == 0 || outcome == .stopped { return reader.visitor }
    }
  }

  /// The first bytes of a part, or all.
  func bytes(of part: String, limit: Int) throws(UpsurgeError) -> [UInt8] {
    let content = try open(part)
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    defer { memory.deallocate() }
    var bytes: [UInt8] = []
    while bytes.count < limit {
      let count = try content.read(into: memory)
      if count == 0 { break }
      bytes += memory[..<count]
    }
    return bytes
  }
}

extension Workbook {
  /// The sheet that an option or a path names, or the first one that can be seen.
  /// - Parameter wanted: its name, in any case of letters, or its number from 1; nil for the first.
  /// - Throws: `unreadableInput` where there is no such sheet.
  func sheet(_ wanted: String?) throws(UpsurgeError) -> Sheet {
    if kind == .openDocument { return try openDocumentSheet(wanted) }
    guard let wanted else {
      guard let first = sheets.first(where: { !$0.isHidden }) ?? sheets.first else {
        throw WorkbookFault.noSheet(path, "with cells", known: [])
      }
      return first
    }
    let folded = wanted.lowercased()
    if let named = sheets.first(where: { $0.name == wanted })
      ?? sheets.first(where: { $0.name.lowercased() == folded })
    {
      return named
    }
    if let number = Int(wanted), sheets.indices.contains(number - 1) { return sheets[number - 1] }
    throw WorkbookFault.noSheet(path, wanted, known: sheets.map(\.name))
  }

  /// Sheets that can be seen and whose name a pattern matches, as a shell would; those that are called so themselves before all.
  func sheets(matching pattern: String) throws(UpsurgeError) -> [Sheet] {
    let all = kind == .openDocument ? try openDocumentSheets() : sheets
    if let named = all.first(where: { $0.name == pattern }) { return [named] }
    return all.filter { !$0.isHidden && fnmatch(pattern, $0.name, 0) == 0 }
  }

  /// How many sheets there are, where none was named and there are others than the one that is read, and what another one is called.
  func others(than sheet: Sheet) throws(UpsurgeError) -> (count: Int, another: String)? {
    if kind == .openDocument, let count = try openDocumentSheetCount() {
      // Their names would be known only when all of the file was read.
      return count < 2 ? nil : (count, sheet.number == 1 ? "2" : "1")
    }
    let all = kind == .openDocument ? try openDocumentSheets() : sheets
    let others = all.filter { $0.number != sheet.number }
    return (others.first { !$0.isHidden } ?? others.first).map { (all.count, $0.name) }
  }
}

/// The names of the parts of a workbook.
private final class PartNames {
  private let listing: ArchiveListing
  /// In small letters; made when a name is written otherwise.
  private lazy var folded = Dictionary(
    listing.members.map { ($0.label.replacing("\\", with: "/").lowercased(), $0.label) },
    uniquingKeysWith: { first, _ in first })

  init(_ listing: ArchiveListing) { self.listing = listing }

  func byteCount(of name: String) -> UInt64? { listing.named(name).first?.byteCount }

  func find(_ name: String) -> String? { listing.has(name) ? name : folded[name.lowercased()] }
}
