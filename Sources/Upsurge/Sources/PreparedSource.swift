/// A source that is open, with what was found out about it: compression, encoding, format, dialect, header.
package struct PreparedSource {
  package let opened: OpenedSource
  package let shape: Shape
  /// The columns as a database declares them; nil where only the records say what they are.
  var declared: [InferredColumn]?

  /// The names of all fields, once the source was read for them.
  let allNames = Guarded<[String]?>(nil)

  /// What the input is, where it seems to be an object that only wraps the records.
  var wrapper: JSONWrapper?

  /// What a database has to say of its rows.
  var rowRemarks: [Wording] = []

  /// How the bytes become records.
  package enum Shape: Sendable {
    case csv(CSVSniffResult)
    case json(JSONFormat)
  }

  /// Opens a source and looks at its first MiB.
  /// - Parameters:
  ///   - counter: counts the bytes read of the file as it lies there.
  ///   - cancellation: ends waits for a pipe.
  /// - Throws: `unreadableInput`, or `badInput` when the sample is corrupt.
  package static func prepare(
    _ source: Source, options: LoadOptions, counter: ByteCounter = ByteCounter(),
    cancellation: ReadCancellation? = nil
  ) throws(UpsurgeError) -> PreparedSource {
    if let rows = try source.database() {
      let name = source.hidden(by: options.environment.question.mask).name
      return try prepare(rows, name: name, options: options, counter: counter, cancellation: cancellation)
    }
    if let rows = try source.server() {
      return try prepare(rows, shown: source, options: options, counter: counter, cancellation: cancellation)
    }
    if let own = options.ownSource(source) {
      return try prepare(
        own, name: source.name, options: options, counter: counter, cancellation: cancellation)
    }
    let file = try FileSource(
      source, asking: options.environment.question,
      archives: options.environment.archives ?? OpenArchives(options),
      counter: counter, cancellation: cancellation)
    return try prepare(file, options: options)
  }

  /// Finds out what a file holds that is open.
  static func prepare(_ file: FileSource, options given: LoadOptions) throws(UpsurgeError) -> PreparedSource {
    let options = file.isSheet ? try given.ofSheet(file.name) : given
    var opening = OpenedSource.Options()
    opening.compression = options.input.compression
    opening.encoding = options.input.encoding
    if file.isSheet { (opening.compression, opening.encoding) = (.none, .utf8) }
    opening.windowByteLimit = options.windowByteLimit
    opening.maximumRatio = options.input.maximumRatio
    opening.needsLineEnd = options.delivery.needsLineEnd
    opening.trailer = options.delivery.trailer
    opening.question = options.environment.question
    let isJSON =
      options.input.format == .json || options.input.format == .ndjson || !options.input.jsonPath.isEmpty
      || options.input.jsonMap != nil
    opening.allowsSingleByteEncodings = !isJSON
    let opened = try OpenedSource(file: file, options: opening)
    if !isJSON { try settleEncoding(of: opened, options: options) }
    if let parser = options.environment.parser {
      try checkEncoding(of: opened)
      return try prepare(
        opened, parser: parser, counter: file.counter, cancellation: file.cancellation)
    }
    if !ForeignText.isAllowed(by: options),
      let foreign = ForeignText.detect(opened.sample, isWhole: opened.isSampleWhole)
    {
      throw foreign.error(opened.name, in: opened.sample)
    }
    var shape = try settle(shape(of: opened, options: options), of: opened, options: options)
    if case .csv(let sniffed) = shape { try sniffed.dialect.validate() }
    if options.delivery.rules.snapshot != nil, case .csv(let sniffed) = shape, sniffed.headerNames.isEmpty {
      // Nothing says what the columns are; that there is no record is known all the same.
      shape = .json(.ndjson)
    }
    if case .json = shape, !isJSON, options.input.encoding == .auto {
      // JSON is UTF-8 (or marked UTF-16); what is not is an error, never Windows-1252.
      try opened.decode(as: .auto, allowsSingleByteEncodings: false)
    }
    if case .csv(let sniffed) = shape {
      try checkEncoding(of: opened)
      try checkHeader(sniffed, of: opened)
    }
    // A document says itself where it ends.
    if case .json(.json) = shape { opened.needsLineEnd = false }
    if case .csv(let sniffed) = shape, let unknown = sniffed.unknownFields {
      throw unknownFields(unknown, of: opened.name, hasHeader: sniffed.dialect.headerLineCount > 0)
    }
    var prepared = PreparedSource(opened: opened, shape: shape)
    prepared.wrapper = prepared.foundWrapper(options: options)
    return prepared
  }

  /// - Throws: `badInput` where a person has to say what the encoding is.
  private static func checkEncoding(of opened: OpenedSource) throws(UpsurgeError) {
    if let doubt = opened.encodingDoubt, doubt.isRefusal { throw doubt.error(opened.name) }
  }

  /// - Throws: `badInput` for a header with bytes that are no characters: no column is named with their substitute.
  private static func checkHeader(_ sniffed: CSVSniffResult, of opened: OpenedSource) throws(UpsurgeError) {
    let substitute: Unicode.Scalar = "\u{FFFD}"
    guard let field = sniffed.headerNames.firstIndex(where: { $0.unicodeScalars.contains(substitute) }) else {
      return
    }
    // The text may have that character itself.
    var position = opened.sample.startIndex
    while let found = opened.sample[position...].firstIndex(of: 0xEF) {
      if opened.sample[found...].starts(with: [0xEF, 0xBF, 0xBD]) { return }
      position = found + 1
    }
    throw UpsurgeError(
      .badInput,
      "field \(field + 1) of the header of \(SourceName.shown(opened.name)) has bytes that are not "
        + "\(opened.encoding.rawValue)",
      position: Position(file: opened.name), snippet: sniffed.headerNames[field].escapedForTerminal,
      hint: "name the file's true encoding with \(.encoding), or its fields with \(.names, "A,B,C")")
  }

  private static func unknownFields(
    _ unknown: CSVSniffResult.UnknownFields, of name: String, hasHeader: Bool
  ) -> UpsurgeError {
    let what = hasHeader ? "the header" : "the first record"
    let position = Position(file: name, line: 1, byte: 0)
    switch unknown {
    case .cut(let byteCount):
      return UpsurgeError(
        .badInput,
        "\(what) of \(SourceName.shown(name)) does not end within its first \(byteCount) bytes, so its fields are "
          + "not known",
        position: position,
        hint:
          "\(.names, "A,B,C") says what the fields are; \(.skipLines, "N") leaves lines out; \(.quote, "none") if a quote is "
          + "never closed")
    case .tooMany:
      return UpsurgeError(
        .badInput,
        "\(what) of \(SourceName.shown(name)) has more than \(HeaderNames.fieldLimit) fields, and SQLite takes at "
          + "most \(JSONParser.mostColumns) columns in any table",
        position: position,
        hint:
          "cut out the fields that are wanted first, as `cut -d, -f1-100` does; \(.delimiter) if these are no fields"
      )
    }
  }

  /// JSON by its first marks alone; nil where it starts with neither bracket nor brace.
  private static func formatByMarks(of sample: [UInt8]) -> JSONFormat? {
    let marks = sample.lazy.filter { $0 != 0x20 && !(0x09...0x0D).contains($0) }.prefix(2)
    switch marks.first {
    case UInt8(ascii: "{"): return .ndjson
    case UInt8(ascii: "["):
      let second = marks.dropFirst().first
      return second == UInt8(ascii: "[") || second == UInt8(ascii: "{") ? .json : .ndjson
    default: return nil
    }
  }

  private static func shape(of opened: OpenedSource, options: LoadOptions) -> Shape {
    switch options.input.format {
    case .json: return .json(.json)
    case .ndjson: return .json(.ndjson)
    case .tsv where options.input.csv.delimiter == nil:
      var given = options.input.csv
      given.delimiter = [UInt8(ascii: "\t")]
      return .csv(CSVSniffer.sniff(sample: opened.sample, isWhole: opened.isSampleWhole, given: given))
    case .csv, .tsv: break
    case nil where options.input.csv.widths != nil || options.input.csv.isOfSheet: break
    case nil:
      if !options.input.jsonPath.isEmpty || options.input.jsonMap != nil { return .json(.json) }
      let format = opened.sample.withUnsafeBufferPointer {
        JSONSniffer.sniff(
          $0, isWhole: opened.isSampleWhole,
          hasArrayNames: options.input.csv.columnNames != nil || options.input.csv.headerLineCount == 0)
      }
      if let format { return .json(format) }
      // Who allows NaN means JSON, which it is not by its grammar.
      if options.input.jsonNaN != .reject, let format = formatByMarks(of: opened.sample) {
        return .json(format)
      }
    }
    return .csv(
      CSVSniffer.sniff(sample: opened.sample, isWhole: opened.isSampleWhole, given: options.input.csv))
  }

  /// What was guessed or changed on the way and should be said.
  package var remarks: [Wording] {
    (opened.encodingRemark.map { [$0] } ?? []) + rowRemarks + shapeRemarks
  }

  private var shapeRemarks: [Wording] {
    guard case .csv(let sniffed) = shape else { return wrapper.map { [Self.remark(on: $0)] } ?? [] }
    let shown = sniffed.renamings.prefix(5).map {
      "\"\($0.original.escapedForTerminal)\" (field \($0.index + 1)) is \($0.new.escapedForTerminal)"
    }
    if shown.isEmpty { return sniffed.remarks }
    let more = sniffed.renamings.count - shown.count
    return sniffed.remarks + [
      Wording(
        "header names made unique: " + shown.joined(separator: ", ") + (more > 0 ? " and \(more) more" : ""))
    ]
  }

  /// Whether a cut would be noticed: by who sends it, by its compression, or as a JSON document that is not closed.
  package var provesEnd: Bool {
    if case .json(.json) = shape { return true }
    return opened.provesEnd
  }

  /// Whether there is neither a header nor a record.
  package var isBlank: Bool {
    switch shape {
    case .csv(let sniffed): sniffed.headerNames.isEmpty
    case .json: opened.isSampleWhole && opened.sample.allSatisfy { $0 == 0x20 || (0x09...0x0D).contains($0) }
    }
  }

  /// Fields that were renamed or are left out, for the summary.
  package func warnings(options: LoadOptions) -> WarningLog {
    var log = WarningLog()
    guard case .csv(let sniffed) = shape else { return log }
    let position = Position(file: opened.name)
    for renaming in sniffed.renamings { log.add(.headerRenamed, column: renaming.new, at: position) }
    let wanted = Set(options.table.columns.map(SQLName.folded))
    for name in sniffed.headerNames where !wanted.isEmpty && !wanted.contains(SQLName.folded(name)) {
      log.add(.columnSkipped, column: name, at: position)
    }
    return log
  }

  /// The source in words: `names.csv.zst: zstd · csv · delimiter comma · quote " · header · LF · utf-8`.
  package var summary: String {
    var parts: [String] = []
    if opened.compression != .none { parts.append(opened.compression.rawValue) }
    switch shape {
    case .csv(let sniffed) where opened.isSheet: return "\(opened.name): " + sniffed.sheetSummary
    case .csv(let sniffed): parts.append(sniffed.summary)
    case .json(let format): parts.append(format.rawValue)
    }
    parts.append(opened.encoding.rawValue)
    return "\(opened.name): " + parts.joined(separator: " · ")
  }
}
