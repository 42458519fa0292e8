import UpsurgeRecords

/// The parts of an .ods file (OpenDocument 1.3, part 2).
extension Workbook {
  private static let content = "content.xml"
  private static let manifestByteLimit = 4 << 20

  /// - Throws: `badInput` for a document of another kind, and for an encrypted one.
  func checkOpenDocument() throws(UpsurgeError) {
    let type = String(decoding: try bytes(of: "mimetype", limit: 1).prefix(128), as: UTF8.self)
    if !type.hasPrefix("application/vnd.oasis.opendocument.spreadsheet") {
      throw WorkbookFault.broken(path, "it holds \(type.escapedForTerminal), and no sheets")
    }
    // Its bytes are searched: the first versions have a document type there.
    let manifest = String(
      decoding: try bytes(of: "META-INF/manifest.xml", limit: Self.manifestByteLimit), as: UTF8.self)
    if part(Self.content) == nil || manifest.contains(":encryption-data") {
      throw WorkbookFault.encrypted(path)
    }
  }

  func openDocumentSheet(_ wanted: String?) throws(UpsurgeError) -> Sheet {
    let wanting = wanted.map(OpenDocumentSearch.Wanted.named) ?? .first
    let search = try read(Self.content, OpenDocumentSearch(wanting, room: room))
    guard let found = search.found else {
      throw WorkbookFault.noSheet(path, wanted ?? "with cells", known: search.sheets.map(\.name))
    }
    return found
  }

  /// All sheets, for which all of the file is read.
  func openDocumentSheets() throws(UpsurgeError) -> [Sheet] {
    try read(Self.content, OpenDocumentSearch(.all, room: room)).sheets
  }

  private var room: PartRoom { PartRoom(path, byteLimit: archives.textByteLimit) }

  /// How many sheets there are, as LibreOffice says it beside them; nil where nothing says it.
  func openDocumentSheetCount() throws(UpsurgeError) -> Int? {
    guard let part = part("meta.xml") else { return nil }
    do {
      return try read(part, OpenDocumentStatistic()).sheetCount
    } catch {
      // Nothing of the table depends on it.
      if error.code == .interrupted { throw error }
      return nil
    }
  }
}

/// Looks for a sheet of an OpenDocument file, which has no list of them.
struct OpenDocumentSearch: XMLVisitor {
  enum Wanted {
    case first, all
    case named(String)
  }

  private(set) var failure: UpsurgeError?
  private let wanted: Wanted
  private(set) var sheets: [Workbook.Sheet] = []
  private var hiddenStyles: Set<String> = []
  private var style: String?
  private var tableDepth = 0
  private var room: PartRoom

  init(_ wanted: Wanted, room: PartRoom) { (self.wanted, self.room) = (wanted, room) }

  /// The sheet, once all was read that had to be.
  var found: Workbook.Sheet? {
    switch wanted {
    case .all: return nil
    case .first: return sheets.first { !$0.isHidden } ?? sheets.first
    case .named(let name):
      let folded = name.lowercased()
      if let named = sheets.first(where: { $0.name == name })
        ?? sheets.first(where: { $0.name.lowercased() == folded })
      {
        return named
      }
      return Int(name).flatMap { sheets.indices.contains($0 - 1) ? sheets[$0 - 1] : nil }
    }
  }

  mutating func start(_ name: XMLName, _ attributes: XMLAttributes) -> XMLStep {
    switch name {
    case "style": style = attributes.text("name")
    case "table-properties":
      let isHidden = attributes.value("display").map { XMLName.equals($0, "false") } ?? false
      guard isHidden, let style else { break }
      failure = room.take(style.utf8.count)
      if failure != nil { return .stop }
      hiddenStyles.insert(style)
    case "table":
      tableDepth += 1
      guard tableDepth == 1, let title = attributes.text("name") else { break }
      return take(title, isHidden: attributes.text("style-name").map(hiddenStyles.contains) ?? false)
    default: break
    }
    return .goOn
  }

  private mutating func take(_ title: String, isHidden: Bool) -> XMLStep {
    failure = room.take(title.utf8.count)
    if failure != nil { return .stop }
    sheets.append(
      Workbook.Sheet(name: title, isHidden: isHidden, number: sheets.count + 1, part: "content.xml"))
    switch wanted {
    case .all: return .goOn
    case .first: return isHidden ? .goOn : .stop
    case .named(let name): return title == name ? .stop : .goOn
    }
  }

  mutating func end(_ name: XMLName) -> XMLStep {
    if name == "table" { tableDepth -= 1 }
    return .goOn
  }
}

/// What a document says of its size.
private struct OpenDocumentStatistic: XMLVisitor {
  let failure: UpsurgeError? = nil
  private(set) var sheetCount: Int?

  mutating func start(_ name: XMLName, _ attributes: XMLAttributes) -> XMLStep {
    if name == "document-statistic" { sheetCount = attributes.number("table-count") }
    return .goOn
  }
}
