import UpsurgeRecords

/// The relations of a part to others: `rId1` is `worksheets/sheet1.xml`.
final class ExcelRelations: XMLVisitor {
  struct Relation {
    var type: String
    /// The name of the other part in the archive.
    var target: String
  }

  private(set) var failure: UpsurgeError?
  private var relations: [String: Relation] = [:]
  private var order: [String] = []
  private let folder: String
  private var freeByteCount: Int

  /// - Parameter folder: of the part, from which names begin.
  init(folder: String, limit: Int) { (self.folder, freeByteCount) = (folder, limit) }

  func relation(_ id: String) -> Relation? { relations[id] }

  func targets(ofType suffix: String) -> [String] {
    order.compactMap { relations[$0] }.filter { $0.type.hasSuffix(suffix) }.map(\.target)
  }

  func start(_ name: XMLName, _ attributes: XMLAttributes) -> XMLStep {
    guard name == "Relationship", let id = attributes.text("Id"), let target = attributes.text("Target"),
      attributes.text("TargetMode") != "External"
    else { return .goOn }
    freeByteCount -= id.utf8.count + target.utf8.count + 100
    if freeByteCount < 0 { return .stop }
    if relations[id] == nil { order.append(id) }
    relations[id] = Relation(type: attributes.text("Type") ?? "", target: place(of: target))
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

  func end(_ name: XMLName) -> XMLStep { .goOn }
  func text(_ bytes: UnsafeBufferPointer<UInt8>) {}
}

/// What a workbook says of its sheets.
final class ExcelBook: XMLVisitor {
  private(set) var failure: UpsurgeError?
  private(set) var sheets: [(name: String, id: String, isHidden: Bool)] = []
  private(set) var is1904 = false
  private(set) var isBook = false
  private var freeByteCount: Int

  init(limit: Int) { freeByteCount = limit }

  func start(_ name: XMLName, _ attributes: XMLAttributes) -> XMLStep {
    switch name {
    case "workbook": isBook = true
    case "workbookPr": is1904 = attributes.isTrue("date1904")
    case "sheet":
      // `sheetId` is another one.
      guard let title = attributes.text("name"), let id = attributes.text("id") else { return .goOn }
      freeByteCount -= title.utf8.count + id.utf8.count + 100
      if freeByteCount < 0 { return .stop }
      sheets.append((title, id, attributes.text("state").map { $0 != "visible" } ?? false))
    default: break
    }
    return .goOn
  }

  func end(_ name: XMLName) -> XMLStep { .goOn }
  func text(_ bytes: UnsafeBufferPointer<UInt8>) {}
}

/// The formats of cells, by the number of their style.
final class ExcelStyles: XMLVisitor {
  private(set) var failure: UpsurgeError?
  private(set) var formats: [CellFormat] = []
  private var custom: [Int: CellFormat] = [:]
  private var isInCells = false

  /// More than any program writes.
  private static let limit = 1 << 20

  func start(_ name: XMLName, _ attributes: XMLAttributes) -> XMLStep {
    switch name {
    case "numFmt":
      if let id = attributes.number("numFmtId"), let code = attributes.text("formatCode"), custom.count < Self.limit {
        custom[id] = CellFormat(code: code.utf8)
      }
    case "cellXfs": isInCells = true
    case "xf":
      guard isInCells else { break }
      if formats.count >= Self.limit { return .stop }
      let id = attributes.number("numFmtId") ?? 0
      formats.append(custom[id] ?? CellFormat(builtIn: id))
    default: break
    }
    return .goOn
  }

  func end(_ name: XMLName) -> XMLStep {
    guard name == "cellXfs" else { return .goOn }
    return .stop
  }

  func text(_ bytes: UnsafeBufferPointer<UInt8>) {}
}

/// The texts that cells name by their number, one after the other in memory.
final class SharedStrings: XMLVisitor {
  private(set) var failure: UpsurgeError?
  private let name: String
  private let byteLimit: Int
  private var bytes: [UInt8] = []
  /// Where each text ends.
  private var ends: [Int] = []
  private var runs = TextRuns()

  init(name: String, byteLimit: Int) { (self.name, self.byteLimit) = (name, byteLimit) }

  var count: Int { ends.count }

  subscript(index: Int) -> ArraySlice<UInt8> { bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]] }

  func start(_ name: XMLName, _ attributes: XMLAttributes) -> XMLStep {
    if name == "si" { runs.begin() } else { runs.start(name, attributes) }
    return .goOn
  }

  func end(_ name: XMLName) -> XMLStep {
    guard name == "si" else {
      runs.end(name)
      return .goOn
    }
    bytes += runs.finish()
    ends.append(bytes.count)
    return check()
  }

  func text(_ text: UnsafeBufferPointer<UInt8>) {
    runs.text(text)
    if runs.byteCount > byteLimit { failure = WorkbookFault.tooLarge(name, "the shared texts", limit: byteLimit) }
  }

  private func check() -> XMLStep {
    if bytes.count + 8 * ends.count <= byteLimit && failure == nil { return .goOn }
    failure = failure ?? WorkbookFault.tooLarge(name, "the shared texts", limit: byteLimit)
    return .stop
  }
}

/// The text of a cell: of one piece, or of runs with formats of their own. How characters are pronounced is no part of it.
struct TextRuns {
  private var bytes: [UInt8] = []
  private var runStart = 0
  private var isInText = false
  private var keepsBlanks = false
  private var phoneticDepth = 0

  var byteCount: Int { bytes.count }

  mutating func begin() {
    bytes.removeAll(keepingCapacity: true)
    (isInText, phoneticDepth) = (false, 0)
  }

  mutating func start(_ name: XMLName, _ attributes: XMLAttributes) {
    switch name {
    case "t" where phoneticDepth == 0:
      (isInText, runStart) = (true, bytes.count)
      keepsBlanks = attributes.exactly("xml:space").map { XMLName.equals($0, "preserve") } ?? false
    case "rPh": phoneticDepth += 1
    default: break
    }
  }

  mutating func end(_ name: XMLName) {
    switch name {
    case "t" where isInText:
      isInText = false
      if keepsBlanks { return }
      while bytes.count > runStart, Self.isBlank(bytes[bytes.count - 1]) { bytes.removeLast() }
      var start = runStart
      while start < bytes.count, Self.isBlank(bytes[start]) { start += 1 }
      bytes.removeSubrange(runStart..<start)
    case "rPh": phoneticDepth -= 1
    default: break
    }
  }

  mutating func text(_ text: UnsafeBufferPointer<UInt8>) {
    if isInText { bytes += text }
  }

  /// The whole text, with characters that XML cannot hold in the place of their codes: `_x000D_`.
  mutating func finish() -> [UInt8] { Self.decoded(bytes) }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

  static func decoded(_ text: [UInt8]) -> [UInt8] {
    let mark: [UInt8] = [UInt8(ascii: "_"), UInt8(ascii: "x")]
    guard text.count >= 7, text.contains(mark[0]) else { return text }
    var decoded: [UInt8] = []
    var at = 0
    while at < text.count {
      guard text[at] == mark[0], at + 6 < text.count, text[at + 1] == mark[1], text[at + 6] == mark[0],
        let code = UInt16(String(decoding: text[(at + 2)..<(at + 6)], as: UTF8.self), radix: 16),
        let scalar = UnicodeScalar(code), scalar.value != 0
      else {
        decoded.append(text[at])
        at += 1
        continue
      }
      decoded += Array(String(Character(scalar)).utf8)
      at += 7
    }
    return decoded
  }
}
