import UpsurgeRecords

/// The relations of a part to others: `rId1` is `worksheets/sheet1.xml`.
struct ExcelRelations: XMLVisitor {
  struct Relation {
    var type: String
    /// The name of the other part in the archive.
    var target: String
  }

  private(set) var failure: UpsurgeError?
  private var relations: [String: Relation] = [:]
  private var order: [String] = []
  private let folder: String
  private var room: PartRoom

  /// - Parameter folder: of the part, from which names begin.
  init(folder: String, room: PartRoom) { (self.folder, self.room) = (folder, room) }

  func relation(_ id: String) -> Relation? { relations[id] }

  func targets(ofType suffix: String) -> [String] {
    order.compactMap { relations[$0] }.filter { $0.type.hasSuffix(suffix) }.map(\.target)
  }

  mutating func start(_ name: XMLName, _ attributes: XMLAttributes) -> XMLStep {
    guard name == "Relationship", let id = attributes.text("Id"), let target = attributes.text("Target"),
      attributes.text("TargetMode") != "External"
    else { return .goOn }
    let type = attributes.text("Type") ?? ""
    failure = room.take(id.utf8.count + target.utf8.count + type.utf8.count)
    if failure != nil { return .stop }
    if relations[id] == nil { order.append(id) }
    relations[id] = Relation(type: type, target: place(of: target))
    return .goOn
  }

  /// A name from the root, without steps up.
  private func place(of target: String) -> String {
    let target = target.replacing("\\", with: "/")
    var parts = target.hasPrefix("/") ? [] : folder.split(separator: "/").map(String.init)
    for part in target.split(separator: "/") {
      switch part {
      case ".": break
      case "..": _ = parts.popLast()
      default: parts.append(String(part))
      }
    }
    return parts.joined(separator: "/")
  }
}

/// What lists of a workbook may take in memory.
struct PartRoom {
  private let name: String
  private let byteLimit: Int
  private var freeByteCount: Int

  init(_ name: String, byteLimit: Int) {
    (self.name, self.byteLimit, freeByteCount) = (name, byteLimit, byteLimit)
  }

  /// - Returns: why an entry does not fit.
  mutating func take(_ byteCount: Int) -> UpsurgeError? {
    freeByteCount -= byteCount + 100
    return freeByteCount < 0
      ? WorkbookFault.tooLarge(name, "the names of the parts", .parts, byteLimit: byteLimit) : nil
  }
}

/// What a workbook says of its sheets.
struct ExcelBook: XMLVisitor {
  private(set) var failure: UpsurgeError?
  private(set) var sheets: [(name: String, id: String, isHidden: Bool)] = []
  private(set) var is1904 = false
  private(set) var isBook = false
  private var room: PartRoom

  init(room: PartRoom) { self.room = room }

  mutating func start(_ name: XMLName, _ attributes: XMLAttributes) -> XMLStep {
    switch name {
    case "workbook": isBook = true
    // Extensions of later years have an element of this name that says nothing of days.
    case "workbookPr": if attributes.isTrue("date1904") { is1904 = true }
    case "sheet":
      // `sheetId` is another one.
      guard let title = attributes.text("name"), let id = attributes.text("id") else { return .goOn }
      failure = room.take(title.utf8.count + id.utf8.count)
      if failure != nil { return .stop }
      sheets.append((title, id, attributes.text("state").map { $0 != "visible" } ?? false))
    default: break
    }
    return .goOn
  }
}

/// The formats of cells, by the number of their style.
struct ExcelStyles: XMLVisitor {
  private(set) var failure: UpsurgeError?
  private(set) var formats: [CellFormat] = []
  private let name: String
  private var custom: [Int: CellFormat] = [:]
  private var isInCells = false
  /// Formats that follow those of cells are for other things, under numbers of their own.
  private var isDone = false

  /// Twice what Excel takes of styles.
  private static let limit = 1 << 17
  private static let codeByteLimit = 4096

  init(name: String) { self.name = name }

  mutating func start(_ name: XMLName, _ attributes: XMLAttributes) -> XMLStep {
    if isDone { return .goOn }
    switch name {
    case "numFmt":
      if let id = attributes.number("numFmtId"), let code = attributes.text("formatCode") {
        custom[id] = CellFormat(code: code.utf8.prefix(Self.codeByteLimit))
      }
    case "cellXfs": isInCells = true
    case "xf":
      guard isInCells else { break }
      let id = attributes.number("numFmtId") ?? 0
      formats.append(custom[id] ?? CellFormat(builtIn: id))
    default: break
    }
    if max(formats.count, custom.count) <= Self.limit { return .goOn }
    failure = WorkbookFault.broken(self.name, "it has more than \(Self.limit) styles")
    return .stop
  }

  mutating func end(_ name: XMLName) -> XMLStep {
    if name == "cellXfs" { isDone = true }
    return .goOn
  }
}
