import UpsurgeRecords

/// The parts of an .xlsx file (ECMA-376, part 1, 12.3).
extension Workbook {
  mutating func readExcel() throws(UpsurgeError) {
    let room = PartRoom(path, byteLimit: archives.textByteLimit)
    var root = ExcelRelations(folder: "", room: room)
    if let part = part("_rels/.rels") { root = try read(part, root) }
    let name = root.targets(ofType: "/officeDocument").first ?? "xl/workbook.xml"
    guard let main = part(name) else {
      throw WorkbookFault.broken(path, "it has no \(name.escapedForTerminal)")
    }
    if main.lowercased().hasSuffix(".bin") {
      throw WorkbookFault.broken(path, "it is in the binary format .xlsb, which is not read here")
    }
    let folder = main.split(separator: "/").dropLast().joined(separator: "/")
    let file = main.split(separator: "/").last.map(String.init) ?? main
    var relations = ExcelRelations(folder: folder, room: room)
    if let part = part((folder.isEmpty ? "" : folder + "/") + "_rels/\(file).rels") {
      relations = try read(part, relations)
    }
    let book = try read(main, ExcelBook(room: room))
    if !book.isBook { throw WorkbookFault.broken(path, "it is an Office document without sheets") }
    is1904 = book.is1904
    stylesPart = relations.targets(ofType: "/styles").first
    stringsPart = relations.targets(ofType: "/sharedStrings").first
    for sheet in book.sheets {
      let relation = relations.relation(sheet.id)
      if let relation, !relation.type.hasSuffix("/worksheet") { continue }
      sheets.append(
        Sheet(
          name: sheet.name, isHidden: sheet.isHidden, number: sheets.count + 1,
          part: relation.map { part($0.target) ?? $0.target }))
    }
  }

  /// What the cells of all sheets share: it is read once for all sheets of a run.
  func texts() throws(UpsurgeError) -> WorkbookTexts {
    guard kind == .excel, let stamp = ArchiveFile.Stamp(path: path) else { return WorkbookTexts() }
    if let known = archives.kept(of: stamp) as? WorkbookTexts { return known }
    archives.keep(nil)
    let texts = WorkbookTexts(try strings(), try formats())
    archives.keep((stamp, texts))
    return texts
  }

  /// The formats of cells by their style.
  private func formats() throws(UpsurgeError) -> [CellFormat] {
    guard let stylesPart else { return [] }
    // Without it days would be numbers.
    guard let part = part(stylesPart) else {
      throw WorkbookFault.broken(path, "it has no \(stylesPart.escapedForTerminal)")
    }
    return try read(part, ExcelStyles(name: path)).formats
  }

  private func strings() throws(UpsurgeError) -> SharedTexts {
    var strings = SharedStrings(name: path, byteLimit: archives.textByteLimit, makeSpool: archives.makeSpool)
    // A cell that names a text says where it is missing.
    if let part = stringsPart.flatMap(part) { strings = try read(part, strings) }
    return try strings.finish()
  }
}

/// What the cells of all sheets of a workbook share.
final class WorkbookTexts: Sendable {
  let texts: Guarded<SharedTexts>
  let count: Int
  let formats: [CellFormat]

  init(_ texts: SharedTexts, _ formats: [CellFormat]) {
    (self.texts, count, self.formats) = (Guarded(texts), texts.count, formats)
  }

  /// Of a workbook whose cells share nothing.
  convenience init() {
    self.init(SharedTexts(name: "", byteLimit: 0, makeSpool: OpenArchives.temporarySpool), [])
  }
}
