/// What a file of rejects says of the records in it, as JSON; what is left to its default is left out.
extension RejectContext {
  /// The key by which the line is known; its value is the version of the form.
  static let key = "upsurge_rejects"
  private static let version: Int64 = 1
  static let folderKey = "folder"

  /// The context as one line without its end.
  var text: String {
    var out = JSONText()
    out.beginObject()
    out.key(Self.key)
    out.number(Self.version)
    out.member("table", table)
    out.key("rules")
    out.literal(rules)
    out.member("contract", contract.rawValue)
    if keepsSpelling { out.member("spelling", "keep") }
    if !consentedColumns.isEmpty {
      out.key("numbers")
      out.strings(consentedColumns)
    }
    if !added.isEmpty {
      out.key("add")
      out.beginObject()
      for (column, value) in added.sorted(by: { $0.key < $1.key }) { out.member(column, value.text) }
      out.endObject()
    }
    if !values.isEmpty { Self.write(values, to: &out) }
    if let blobEncoding { out.member("blob", blobEncoding.rawValue) }
    if let blobFolder { out.member("blob_folder", blobFolder) }
    if foreignKeys != .auto { out.member("foreign_keys", foreignKeys.rawValue) }
    if triggers != .run { out.member("triggers", triggers.rawValue) }
    if let folder { out.member(Self.folderKey, folder) }
    Self.write(layout, to: &out)
    out.endObject()
    return out.text
  }

  private static func write(_ layout: Layout, to out: inout JSONText) {
    switch layout {
    case .csv(let dialect, let fields):
      out.member("format", "csv")
      write(dialect, to: &out)
      out.key("fields")
      out.beginArray()
      for field in fields {
        if let field { out.string(field) } else { out.null() }
      }
      out.endArray()
    case .json(let dialect, let header, let wanted, let renames):
      out.member("format", dialect.format.rawValue)
      if !header.isEmpty {
        out.key("header")
        out.strings(header)
      }
      if let wanted {
        out.key("columns")
        out.strings(wanted)
      }
      if !renames.isEmpty {
        out.key("rename")
        out.beginObject()
        for (old, new) in renames.sorted(by: { $0.key < $1.key }) { out.member(old, new) }
        out.endObject()
      }
      if let separator = dialect.flattenSeparator { out.member("flatten", separator) }
      if let column = dialect.mapColumn { out.member("json_map", column) }
      if dialect.duplicateKeys != .lastWins {
        out.member("duplicate_keys", dialect.duplicateKeys.rawValue)
      }
      if let nonFinite = dialect.nonFinite, nonFinite != .reject {
        out.member("json_nan", nonFinite.rawValue)
      }
    }
  }

  private static func write(_ dialect: CSVDialect, to out: inout JSONText) {
    out.key("dialect")
    out.beginObject()
    out.key("delimiter")
    out.mark(dialect.delimiter)
    out.key("quote")
    if let quote = dialect.quote { out.mark([quote]) } else { out.null() }
    if let escape = dialect.escape {
      out.key("escape")
      out.mark([escape])
      if dialect.escaping != .any { out.member("escaping", dialect.escaping.rawValue) }
    }
    if !dialect.nullSpellings.isEmpty {
      out.key("null")
      out.beginArray()
      for spelling in dialect.nullSpellings { out.mark(spelling) }
      out.endArray()
    }
    if let quotedEmpty = dialect.quotedEmpty { out.member("quoted_empty", quotedEmpty.rawValue) }
    if dialect.ragged != .reject { out.member("ragged", dialect.ragged.rawValue) }
    if dialect.bareEmpty != .null { out.member("bare_empty", dialect.bareEmpty.rawValue) }
    if dialect.quotes != .strict { out.member("quotes", dialect.quotes.rawValue) }
    out.endObject()
  }

  // MARK: - Reading

  /// Whether a line of a file of rejects is a context, and no record.
  static func isContext(_ json: JSONValue) -> Bool { json[key] != nil }

  /// Whether a line that was cut off may be one.
  static func mayBegin(_ line: some Collection<UInt8>) -> Bool {
    let start = Array("{\"\(key)\":".utf8)
    return line.starts(with: start) || start.starts(with: line)
  }

  /// - Throws: `badInput` for what is no context, or of a version that is not known here.
  init(_ json: JSONValue) throws(UpsurgeError) {
    guard json[Self.key] == .integer(Self.version) else { throw Self.unknownVersion(json) }
    guard let table = json["table"]?.text, !table.isEmpty else { throw Self.fault("table") }
    guard let rules = json["rules"], case .object = rules else { throw Self.fault("rules") }
    self.table = table
    self.rules = rules.jsonText
    // Told here, so that a file whose rules nobody can read is known at its first line.
    _ = try RulesText.decode(self.rules)
    contract = try Self.word(json, "contract") ?? .freeze
    keepsSpelling = json["spelling"]?.text == "keep"
    consentedColumns = try Self.names(json, "numbers") ?? []
    for member in try Self.members(json, "add") {
      guard let text = member.value.text else { throw Self.fault("add") }
      added[member.name] = AddedValue(text: text)
    }
    if let given = json["values"] { values = try Self.values(given) }
    blobEncoding = try Self.word(json, "blob")
    blobFolder = json["blob_folder"]?.text
    foreignKeys = try Self.word(json, "foreign_keys") ?? .auto
    triggers = try Self.word(json, "triggers") ?? .run
    folder = json[Self.folderKey]?.text
    layout = try Self.layout(json)
  }

  private static func layout(_ json: JSONValue) throws(UpsurgeError) -> Layout {
    if json["format"]?.text == "csv" {
      guard case .array(let values)? = json["fields"] else { throw fault("fields") }
      var fields: [String?] = []
      for value in values {
        if value != .null && value.text == nil { throw fault("fields") }
        fields.append(value.text)
      }
      return .csv(try dialect(json), fields: fields)
    }
    guard let format = json["format"]?.text.flatMap(JSONFormat.init(rawValue:)) else { throw fault("format") }
    var dialect = JSONDialect(format: format, flattenSeparator: json["flatten"]?.text)
    dialect.duplicateKeys = try word(json, "duplicate_keys") ?? .lastWins
    dialect.nonFinite = try word(json, "json_nan") ?? .reject
    dialect.mapColumn = json["json_map"]?.text
    var renames: [String: String] = [:]
    if let given = json["rename"] {
      guard case .object(let members) = given else { throw fault("rename") }
      for member in members {
        guard let name = member.value.text else { throw fault("rename") }
        renames[member.name] = name
      }
    }
    return .json(
      dialect, header: try names(json, "header") ?? [], wanted: try names(json, "columns"), renames: renames)
  }

  private static func dialect(_ json: JSONValue) throws(UpsurgeError) -> CSVDialect {
    guard let given = json["dialect"], let delimiter = mark(given["delimiter"]) else {
      throw fault("dialect")
    }
    var dialect = CSVDialect(delimiter: delimiter, headerLineCount: 0)
    dialect.quote = try byte(given, "quote")
    dialect.escape = try byte(given, "escape")
    dialect.escaping = try word(given, "escaping") ?? .any
    dialect.ragged = try word(given, "ragged") ?? .reject
    dialect.bareEmpty = try word(given, "bare_empty") ?? .null
    dialect.quotes = try word(given, "quotes") ?? .strict
    dialect.quotedEmpty = try word(given, "quoted_empty")
    if let spellings = given["null"] {
      guard case .array(let values) = spellings else { throw fault("null") }
      for value in values {
        guard let spelling = mark(value) else { throw fault("null") }
        dialect.nullSpellings.append(spelling)
      }
    }
    do throws(UpsurgeError) { try dialect.validate() } catch { throw fault("dialect") }
    return dialect
  }

  private static func byte(_ json: JSONValue, _ key: String) throws(UpsurgeError) -> UInt8? {
    guard let value = json[key], value != .null else { return nil }
    guard let bytes = mark(value), bytes.count == 1 else { throw fault(key) }
    return bytes[0]
  }

  /// The bytes of a text, or of a BLOB's object.
  private static func mark(_ json: JSONValue?) -> [UInt8]? {
    if let text = json?.text { return Array(text.utf8) }
    guard json?["$base64"] == .bool(true) else { return nil }
    return json?["encoded"]?.text.flatMap(Base64.decode)
  }

  static func names(_ json: JSONValue, _ key: String) throws(UpsurgeError) -> [String]? {
    guard let value = json[key] else { return nil }
    guard let names = value.texts else { throw fault(key) }
    return names
  }

  static func word<Word: RawRepresentable<String>>(
    _ json: JSONValue, _ key: String
  ) throws(UpsurgeError) -> Word? {
    guard let value = json[key] else { return nil }
    guard let word = value.text.flatMap(Word.init(rawValue:)) else { throw fault(key) }
    return word
  }

  private static func unknownVersion(_ json: JSONValue) -> UpsurgeError {
    guard case .integer(let found)? = json[key] else { return fault(key) }
    return UpsurgeError(
      .badInput, "the rejects are of version \(found), and this upsurge reads version \(version)",
      hint: "use the upsurge that wrote them, or a newer one")
  }

  static func fault(_ key: String) -> UpsurgeError {
    UpsurgeError(
      .badInput, "the line that says how the rejects were read cannot be understood: see its \"\(key)\"",
      hint: "put back the line as upsurge load \(.rejects) wrote it")
  }
}

extension JSONText {
  /// Bytes as text, or where they are none as a BLOB's object.
  fileprivate mutating func mark(_ bytes: [UInt8]) {
    if let text = String(validating: bytes, as: UTF8.self) { return string(text) }
    beginObject()
    key("$base64")
    bool(true)
    member("encoded", Base64.encode(bytes))
    endObject()
  }
}

extension JSONValue {
  /// The value as JSON without spaces.
  var jsonText: String {
    var out = JSONText()
    write(to: &out)
    return out.text
  }

  private func write(to out: inout JSONText) {
    switch self {
    case .null: out.null()
    case .bool(let flag): out.bool(flag)
    case .integer(let number): out.number(number)
    case .real(let number): out.exact(number)
    case .text(let text): out.string(text)
    case .array(let values):
      out.beginArray()
      for value in values { value.write(to: &out) }
      out.endArray()
    case .object(let members):
      out.beginObject()
      for member in members {
        out.key(member.name)
        member.value.write(to: &out)
      }
      out.endObject()
    }
  }
}
