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
    /// The member of the archive that it is in.
    var part: String
  }

  let path: String
  let kind: Kind
  let followsLinks: Bool
  let archives: OpenArchives
  let cancellation: ReadCancellation?
  private let listing: ArchiveListing
  /// In the order of their tabs. An .ods file says what it has only as it is read.
  private(set) var sheets: [Sheet] = []
  private(set) var is1904 = false
  private var stylesPart: String?
  private var stringsPart: String?

  /// Whether a member's name is the mark of an office document.
  static func kind(of listing: ArchiveListing) -> Kind? {
    if listing.kind != .zip { return nil }
    if !listing.named("[Content_Types].xml").isEmpty { return .excel }
    let marks = ["mimetype", "content.xml", "META-INF/manifest.xml"]
    return marks.allSatisfy { !listing.named($0).isEmpty } ? .openDocument : nil
  }

  /// Opens a file; nil for what is no workbook.
  /// - Throws: `badInput` for a document of another kind, and for one that is not whole.
  init?(
    _ path: String, followsLinks: Bool, archives: OpenArchives, cancellation: ReadCancellation?
  ) throws(UpsurgeError) {
    let listing = try ArchiveListing.of(path, followsLinks: followsLinks, within: archives, cancellation: cancellation)
    guard let listing, let kind = Self.kind(of: listing) else { return nil }
    (self.path, self.kind, self.followsLinks, self.archives) = (path, kind, followsLinks, archives)
    (self.listing, self.cancellation) = (listing, cancellation)
    switch kind {
    case .excel: try readExcel()
    case .openDocument: try checkMimeType()
    }
  }

  // MARK: - Parts

  /// The member with a name, in any case of letters.
  func part(_ name: String) -> String? {
    if listing.named(name).count == 1 { return name }
    let wanted = name.lowercased()
    return listing.members.first { $0.label.replacing("\\", with: "/").lowercased() == wanted }?.label
  }

  func open(_ part: String) throws(UpsurgeError) -> ArchiveContent {
    try ArchiveContent(
      ArchivePath(archive: path, member: part), followsLinks: followsLinks, of: archives, cancellation: cancellation)
  }

  /// Reads a part to its end, or as far as the visitor wants it.
  func read(_ part: String, visitor: any XMLVisitor) throws(UpsurgeError) {
    let content = try open(part)
    let reader = try XMLReader(content.path.text, visitor: visitor)
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    defer { memory.deallocate() }
    while true {
      let count = try content.read(into: memory)
      var outcome = try reader.feed(UnsafeRawBufferPointer(rebasing: memory[..<count]))
      while outcome == .suspended { outcome = try reader.resume() }
      if count == 0 || outcome == .stopped { return }
    }
  }

  private func checkMimeType() throws(UpsurgeError) {
    let content = try open("mimetype")
    var bytes = [UInt8](repeating: 0, count: 128)
    let count = try bytes.withRawBytesForWriting { memory throws(UpsurgeError) in try content.read(into: memory) }
    let type = String(decoding: bytes[..<count], as: UTF8.self)
    if !type.hasPrefix("application/vnd.oasis.opendocument.spreadsheet") {
      throw WorkbookFault.broken(path, "it holds \(type.escapedForTerminal), and no sheets")
    }
  }

  private mutating func readExcel() throws(UpsurgeError) {
    let root = ExcelRelations(folder: "", limit: archives.textByteLimit)
    if let part = part("_rels/.rels") { try read(part, visitor: root) }
    let name = root.targets(ofType: "/officeDocument").first ?? "xl/workbook.xml"
    guard let main = part(name) else { throw WorkbookFault.broken(path, "it has no \(name.escapedForTerminal)") }
    if main.lowercased().hasSuffix(".bin") {
      throw WorkbookFault.broken(path, "it is in the binary format .xlsb, which is not read here")
    }
    let folder = main.split(separator: "/").dropLast().joined(separator: "/")
    let file = main.split(separator: "/").last.map(String.init) ?? main
    let relations = ExcelRelations(folder: folder, limit: archives.textByteLimit)
    if let part = part((folder.isEmpty ? "" : folder + "/") + "_rels/\(file).rels") { try read(part, visitor: relations) }
    let book = ExcelBook(limit: archives.textByteLimit)
    try read(main, visitor: book)
    if !book.isBook { throw WorkbookFault.broken(path, "it is an Office document without sheets") }
    is1904 = book.is1904
    stylesPart = relations.targets(ofType: "/styles").first.flatMap(part)
    stringsPart = relations.targets(ofType: "/sharedStrings").first.flatMap(part)
    for sheet in book.sheets {
      guard let relation = relations.relation(sheet.id), relation.type.hasSuffix("/worksheet"), let part = part(relation.target)
      else { continue }
      sheets.append(Sheet(name: sheet.name, isHidden: sheet.isHidden, part: part))
    }
  }

  /// The formats of cells by their style.
  func formats() throws(UpsurgeError) -> [CellFormat] {
    guard let stylesPart else { return [] }
    let styles = ExcelStyles()
    try read(stylesPart, visitor: styles)
    return styles.formats
  }

  func strings() throws(UpsurgeError) -> SharedStrings {
    let strings = SharedStrings(name: path, byteLimit: archives.textByteLimit)
    if let stringsPart { try read(stringsPart, visitor: strings) }
    return strings
  }
}

extension Workbook {
  /// The sheet that an option or a path names, or the first one that can be seen.
  /// - Parameter wanted: its name, in any case of letters, or its number from 1; nil for the first.
  /// - Throws: `unreadableInput` where there is no such sheet.
  func sheet(_ wanted: String?) throws(UpsurgeError) -> Sheet {
    if kind == .openDocument { return try openDocumentSheet(wanted) }
    let names = sheets.map(\.name)
    guard let wanted else {
      guard let first = sheets.first(where: { !$0.isHidden }) ?? sheets.first else {
        throw WorkbookFault.noSheet(path, "with cells", known: [])
      }
      return first
    }
    if let named = sheets.first(where: { $0.name == wanted }) ?? sheets.first(where: { $0.name.lowercased() == wanted.lowercased() }) {
      return named
    }
    if let number = Int(wanted), sheets.indices.contains(number - 1) { return sheets[number - 1] }
    throw WorkbookFault.noSheet(path, wanted, known: names)
  }

  private func openDocumentSheet(_ wanted: String?) throws(UpsurgeError) -> Sheet {
    let search = OpenDocumentSearch(wanted)
    try read("content.xml", visitor: search)
    guard let found = search.found else { throw WorkbookFault.noSheet(path, wanted ?? "with cells", known: search.names) }
    return Sheet(name: found, isHidden: false, part: "content.xml")
  }

  /// Sheets that can be seen and whose name a pattern matches, as a shell would.
  func sheets(matching pattern: String) throws(UpsurgeError) -> [Sheet] {
    var all = sheets
    if kind == .openDocument {
      let search = OpenDocumentSearch(OpenDocumentSearch.none)
      try read("content.xml", visitor: search)
      all = search.visibleNames.map { Sheet(name: $0, isHidden: false, part: "content.xml") }
    }
    return all.filter { !$0.isHidden && fnmatch(pattern, $0.name, 0) == 0 }
  }
}

extension Array<UInt8> {
  /// Writes into the bytes; with a typed error, which the closure of the library would lose.
  fileprivate mutating func withRawBytesForWriting<Result>(
    _ body: (UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Result
  ) throws(UpsurgeError) -> Result {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Swift.max(count, 1), alignment: 16)
    defer { memory.deallocate() }
    let result = try body(memory)
    self = Array(memory[..<count])
    return result
  }
}
