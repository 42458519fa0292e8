/// Workbooks as Excel and LibreOffice write them, without what only they need.
public enum SheetFiles {
  public enum Form: String, CaseIterable, Sendable {
    case xlsx
    /// With a prefix before each name, texts in the cells, and no references.
    case xlsxPrefixed = "xlsx, prefixed"
    case ods
  }

  /// One sheet of an .xlsx file: its name, what stands between `<sheetData>` and its end, and what follows that.
  public struct Sheet {
    public var name: String
    public var rows: String
    public var rest = ""
    /// `visible`, `hidden`, or what kind of sheet it is: `chart`.
    public var state = "visible"

    public init(_ name: String, _ rows: String, rest: String = "", state: String = "visible") {
      (self.name, self.rows, self.rest, self.state) = (name, rows, rest, state)
    }
  }

  /// - Parameters:
  ///   - strings: what stands in each `<si>`.
  ///   - formats: of the styles of cells from 1 on: numbers that every program knows, or codes.
  ///   - changed: texts of parts that are to be others; nil leaves a part out.
  public static func xlsx(
    _ sheets: [Sheet], strings: [String] = [], formats: [String] = [], is1904: Bool = false, prolog: String = "",
    changed: [String: String?] = [:]
  ) throws -> [UInt8] {
    let space = "xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\""
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    let list = sheets.enumerated().map {
      let state = $1.state == "visible" || $1.state == "chart" ? "" : " state=\"\($1.state)\""
      return "<sheet name=\"\(escaped($1.name))\" sheetId=\"\($0 + 1)\"\(state) r:id=\"rId\($0 + 1)\"/>"
    }.joined()
    let relations = sheets.enumerated().map {
      "<Relationship Id=\"rId\($0 + 1)\" Type=\"\(office)/\($1.state == "chart" ? "chartsheet" : "worksheet")\" "
        + "Target=\"worksheets/sheet\($0 + 1).xml\"/>"
    }
    let codes = formats.enumerated().filter { Int($1) == nil }
    let styles =
      "<numFmts>"
      + codes.map { "<numFmt numFmtId=\"\(164 + $0.offset)\" formatCode=\"\(escaped($0.element))\"/>" }.joined()
      + "</numFmts><cellStyleXfs><xf numFmtId=\"14\"/></cellStyleXfs><cellXfs><xf numFmtId=\"0\"/>"
      + formats.enumerated().map { "<xf numFmtId=\"\(Int($1) ?? 164 + $0)\"/>" }.joined() + "</cellXfs>"
    var members: [(name: String, text: String)] = [
      ("[Content_Types].xml", "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"/>"),
      (
        "_rels/.rels",
        "<Relationships><Relationship Id=\"a\" Type=\"\(office)/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
      ),
      (
        "xl/workbook.xml",
        "<workbook \(space) xmlns:r=\"\(office)\"><workbookPr\(is1904 ? " date1904=\"1\"" : "")/><sheets>\(list)</sheets>"
          // Excel writes it since 2013.
          + "<extLst><ext><x15:workbookPr xmlns:x15=\"urn:x15\" chartTrackingRefBase=\"1\"/></ext></extLst></workbook>"
      ),
      (
        "xl/_rels/workbook.xml.rels",
        "<Relationships>\(relations.joined())<Relationship Id=\"s\" Type=\"\(office)/styles\" Target=\"styles.xml\"/>"
          + "<Relationship Id=\"t\" Type=\"\(office)/sharedStrings\" Target=\"/xl/sharedStrings.xml\"/></Relationships>"
      ),
      ("xl/styles.xml", "<styleSheet \(space)>\(styles)</styleSheet>"),
      ("xl/sharedStrings.xml", "<sst \(space)>\(strings.map { "<si>\($0)</si>" }.joined())</sst>"),
    ]
    for (index, sheet) in sheets.enumerated() {
      members.append(
        (
          "xl/worksheets/sheet\(index + 1).xml",
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\(prolog)<worksheet \(space)><dimension ref=\"A1\"/><sheetData>\(sheet.rows)</sheetData>"
            + "\(sheet.rest)</worksheet>"
        ))
    }
    return try archive(members, changed)
  }

  private static func archive(
    _ members: [(name: String, text: String)], _ changed: [String: String?]
  ) throws -> [UInt8] {
    var members = members
    for (name, text) in changed.sorted(by: { $0.key < $1.key }) {
      members.removeAll { $0.name == name }
      if let text { members.append((name, text)) }
    }
    return try Packing.archive(.zip, members.map { ($0.name, Array($0.text.utf8)) })
  }

  /// An archive in which the checksum of a member is another one.
  public static func withWrongChecksum(of name: String, in bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    // The header before the member, and its entry in the directory.
    for (signature, name0, checksum) in [([0x50, 0x4B, 3, 4], 30, 14), ([0x50, 0x4B, 1, 2], 46, 16)] as [([UInt8], Int, Int)] {
      for at in bytes.indices.dropLast(name0 + name.utf8.count) {
        if bytes[at...].starts(with: signature), bytes[(at + name0)...].starts(with: name.utf8) { bytes[at + checksum] ^= 0xFF }
      }
    }
    return bytes
  }

  /// - Parameter tables: what stands in `<office:spreadsheet>`.
  /// - Parameter changed: texts of parts that are to be others; nil leaves a part out.
  public static func ods(_ tables: String, styles: String = "", changed: [String: String?] = [:]) throws -> [UInt8] {
    let names = ["office", "table", "text", "style", "draw", "calcext"].map { " xmlns:\($0)=\"urn:\($0)\"" }.joined()
    let content =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?><office:document-content\(names)><office:automatic-styles>\(styles)</office:automatic-styles>"
      + "<office:body><office:spreadsheet>\(tables)</office:spreadsheet></office:body></office:document-content>"
    return try archive(
      [
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"), ("content.xml", content),
        ("META-INF/manifest.xml", "<manifest/>"),
      ], changed)
  }

  /// A workbook of one sheet, `Data`. A value that is a number in letters is stored as one; nil is no cell.
  public static func workbook(_ form: Form, _ rows: [[String?]]) throws -> [UInt8] {
    switch form {
    case .ods: return try ods("<table:table table:name=\"Data\">\(rows.map(odsRow).joined())</table:table>")
    case .xlsxPrefixed:
      let rows = rows.map { row in
        "<x:row>" + row.map { value in
          guard let value else { return "<x:c/>" }
          return isNumber(value)
            ? "<x:c><x:v>\(value)</x:v></x:c>"
            : "<x:c t=\"inlineStr\"><x:is><x:t xml:space=\"preserve\">\(escaped(value))</x:t></x:is></x:c>"
        }.joined() + "</x:row>"
      }
      // The names of the main part have none.
      let text = "</sheetData><x:sheetData xmlns:x=\"urn:x\">\(rows.joined())</x:sheetData><sheetData>"
      return try xlsx([Sheet("Data", text)])
    case .xlsx:
      var places: [String: Int] = [:]
      var strings: [String] = []
      let rows = rows.enumerated().map { number, row in
        let cells = row.enumerated().compactMap { column, value -> String? in
          guard let value else { return nil }
          let reference = "r=\"\(columnName(column))\(number + 1)\""
          if isNumber(value) { return "<c \(reference)><v>\(value)</v></c>" }
          let place = places[value] ?? strings.count
          if place == strings.count {
            places[value] = place
            strings.append("<t xml:space=\"preserve\">\(escaped(value))</t>")
          }
          return "<c \(reference) t=\"s\"><v>\(place)</v></c>"
        }
        return cells.isEmpty ? "" : "<row r=\"\(number + 1)\">\(cells.joined())</row>"
      }
      return try xlsx([Sheet("Data", rows.joined())], strings: strings)
    }
  }

  private static func odsRow(_ row: [String?]) -> String {
    "<table:table-row>" + row.map { value in
      guard let value else { return "<table:table-cell/>" }
      if isNumber(value) { return "<table:table-cell office:value-type=\"float\" office:value=\"\(value)\"/>" }
      let lines = value.split(separator: "\n", omittingEmptySubsequences: false).map { line in
        "<text:p>" + line.map { $0 == " " ? "<text:s/>" : $0 == "\t" ? "<text:tab/>" : escaped(String($0)) }.joined() + "</text:p>"
      }
      return "<table:table-cell office:value-type=\"string\">\(lines.joined())</table:table-cell>"
    }.joined() + "</table:table-row>"
  }

  public static func columnName(_ column: Int) -> String {
    let letter = String(UnicodeScalar(UInt8(65 + column % 26)))
    return column < 26 ? letter : columnName(column / 26 - 1) + letter
  }

  private static func isNumber(_ value: String) -> Bool {
    Double(value) != nil && value.allSatisfy { "0123456789.-".contains($0) } && !value.hasPrefix("0")
  }

  public static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
      .replacing("\t", with: "&#9;").replacing("\n", with: "&#10;").replacing("\r", with: "&#13;")
  }
}
