import UpsurgeInput

/// Reading a delivery as the one before it was read.
///
/// The sniffer looks at each night anew, and a comment, a title or a stray mark may lead it to another reading. What the
/// last accepted delivery was read with is tried then: it is right where the header names the same fields. Where neither
/// fits, nobody knows what the feed has become, and the delivery is refused.
extension PreparedSource {
  /// Decides the encoding again where the feed's own is another one.
  /// - Throws: `guardRefused` where the delivery does not look like that.
  static func settleEncoding(of opened: OpenedSource, options: LoadOptions) throws(UpsurgeError) {
    guard options.input.encoding == .auto, let feed = options.delivery.feed, let last = feed.last,
      last.reading == options.input.readingWords, last.format != .json, let known = last.encoding,
      known != opened.encoding, !opened.sample.isEmpty
    else { return }
    // Plain ASCII is the same in all of these.
    let isSingleByte = !known.rawValue.hasPrefix("utf-")
    if isSingleByte, opened.encoding == .utf8, opened.startOffset == 0,
      !opened.sample.contains(where: { $0 >= 0x80 })
    {
      return try opened.decode(as: known, allowsSingleByteEncodings: true)
    }
    if known.rawValue.hasPrefix("utf-16"), opened.encoding.rawValue.hasPrefix("utf-16") { return }
    if feed.policy == .accept { return }
    throw otherShape(
      of: opened.name, ["the encoding was \(known.rawValue), and is \(opened.encoding.rawValue) now"],
      "\(.encoding)")
  }

  /// The reading of a source that fits the feed.
  /// - Parameter sniffed: what it looks like by itself.
  /// - Throws: `guardRefused` where it is written in another way than the last delivery.
  static func settle(
    _ sniffed: Shape, of opened: OpenedSource, options: LoadOptions
  ) throws(UpsurgeError) -> Shape {
    guard let feed = options.delivery.feed, opened.sample.contains(where: { $0 > 0x20 }) else { return sniffed }
    let sniffed = withoutComments(sniffed, of: opened, options: options)
    guard let last = feed.last, last.reading == options.input.readingWords else { return sniffed }
    let fitting = FittingDialect(last, of: opened, options: options)
    switch sniffed {
    case .json(let format):
      guard last.format == .csv else { return sniffed }
      if let read = fitting.sameNames(in: fitting.readings()) { return .csv(read) }
      if feed.policy == .accept { return sniffed }
      throw otherShape(of: opened.name, ["it was CSV, and looks like \(format.rawValue) now"], "\(.format)")
    case .csv(let fresh):
      if last.format == .json {
        if feed.policy == .accept { return sniffed }
        throw otherShape(of: opened.name, ["it was JSON, and looks like CSV now"], "\(.format)")
      }
      let changes = fitting.changes(to: fresh)
      if changes.words.isEmpty && fitting.hasSameNames(fresh) { return sniffed }
      let readings = fitting.readings()
      if let read = fitting.sameNames(in: readings) { return .csv(said(changes, read)) }
      if changes.words.isEmpty { return sniffed }
      if let read = fitting.sameWidth(in: readings) { return .csv(said(changes, read)) }
      if feed.policy == .accept { return sniffed }
      throw otherShape(of: opened.name, changes.words, changes.options)
    }
  }

  /// Lines with `#` are comments only above the table, unless the job says otherwise: a row must not go because its record
  /// looks like one.
  private static func withoutComments(
    _ sniffed: Shape, of opened: OpenedSource, options: LoadOptions
  ) -> Shape {
    guard case .csv(let fresh) = sniffed, options.input.csv.commentPrefix == nil, fresh.dialect.commentPrefix != nil
    else {
      return sniffed
    }
    var dialect = fresh.dialect
    dialect.commentPrefix = nil
    var marks = options.input.csv
    (marks.delimiter, marks.quote) = (dialect.delimiter, CSVOverrides.Mark(dialect.quote))
    (marks.escape, marks.commentPrefix) = (CSVOverrides.Mark(dialect.distinctEscape), [])
    marks.headerLineCount = dialect.headerLineCount
    marks.skippedLineCount =
      options.input.csv.skippedLineCount
      ?? dialect.skippedLineCount + FittingDialect.shape(of: opened, dialect).leadingHashLineCount
    let read = CSVSniffer.sniff(sample: opened.sample, isWhole: opened.isSampleWhole, given: marks)
    return read.headerNames == fresh.headerNames ? .csv(read) : sniffed
  }

  /// Says so where another reading than the usual one for such bytes is chosen. Comments are no matter, as they are left out
  /// only above the table; nor are quotes and escapes, of which a night may have none.
  private static func said(
    _ changes: (words: [String], options: Wording), _ read: CSVSniffResult
  ) -> CSVSniffResult {
    if changes.options.terms.isDisjoint(with: [.delimiter, .headerLines, .noHeader]) { return read }
    var read = read
    read.remarks.append(
      "read as the last accepted delivery was, although it looks otherwise: "
        + Wording(changes.words.joined(separator: "; "))
        + "; \(saying: changes.options) says how it is to be read")
    return read
  }

  private static func otherShape(of name: String, _ changes: [String], _ options: Wording) -> UpsurgeError {
    UpsurgeError(
      .guardRefused,
      "\(SourceName.shown(name)) is not written as the last accepted delivery was: "
        + Wording(changes.joined(separator: "; ")),
      hint: "give \(saying: options) to say how it is to be read; \(.acceptChange) goes on with it as it looks now")
  }

  /// What the delivery says of its feed.
  func feedShape(options: LoadOptions) -> FeedShape {
    var feed = FeedShape(reading: options.input.readingWords)
    if case .csv(let sniffed) = shape {
      let sample = opened.sample.withUnsafeBufferPointer {
        SampleShape(sample: $0, isWhole: opened.isSampleWhole, dialect: sniffed.dialect)
      }
      feed.note(sniffed.dialect, sample)
      let isTold = opened.encoding != .utf8 || opened.sample.contains { $0 >= 0x80 }
      if feed.format != nil, isTold { feed.encoding = opened.encoding }
    } else {
      feed.format = .json
    }
    if let fields = toldFields {
      let wanted = Set(options.table.columns.map(SQLName.folded))
      feed.fields = fields.filter { wanted.isEmpty || wanted.contains(SQLName.folded($0)) }
    }
    return feed
  }

  /// The fields that a header or a schema names; nil where only the records say what they have.
  var toldFields: [String]? {
    if let declared { return declared.map(\.name) }
    if case .csv(let sniffed) = shape { return sniffed.headerNames }
    return nil
  }

  /// The names of the fields of CSV; empty for JSON.
  var headerNames: [String] {
    if case .csv(let sniffed) = shape { return sniffed.headerNames }
    return []
  }

  var dialect: CSVDialect? {
    if case .csv(let sniffed) = shape { return sniffed.dialect }
    return nil
  }
}

/// A delivery as the feed's last dialect reads it.
private struct FittingDialect {
  let last: FeedShape
  let opened: OpenedSource
  /// What options say of the dialect: that is not the feed's.
  let given: CSVOverrides
  private let marks: CSVOverrides

  init(_ last: FeedShape, of opened: OpenedSource, options: LoadOptions) {
    (self.last, self.opened) = (last, opened)
    var given = options.input.csv
    if options.input.format == .tsv && given.delimiter == nil { given.delimiter = [UInt8(ascii: "\t")] }
    self.given = given
    var marks = given
    if marks.delimiter == nil { marks.delimiter = last.delimiter }
    if marks.quote == nil { marks.quote = last.quote }
    if marks.escape == nil, last.quote != nil { marks.escape = last.escape ?? CSVOverrides.Mark.none }
    if marks.commentPrefix == nil, last.hasNoComments == true { marks.commentPrefix = [] }
    if marks.headerLineCount == nil { marks.headerLineCount = last.headerLineCount }
    self.marks = marks
  }

  /// The ways to read it with the feed's marks.
  func readings() -> [CSVSniffResult] {
    var readings: [CSVSniffResult] = []
    func read(skipping count: Int?) {
      var marks = marks
      if marks.skippedLineCount == nil { marks.skippedLineCount = count }
      readings.append(CSVSniffer.sniff(sample: opened.sample, isWhole: opened.isSampleWhole, given: marks))
    }
    read(skipping: last.skippedLineCount)
    if given.skippedLineCount == nil {
      // Lines with # that are new on top are above the table, whatever they hold.
      let hashCount = Self.shape(of: opened, readings[0].dialect).leadingHashLineCount
      if hashCount > 0 { read(skipping: (last.skippedLineCount ?? 0) + hashCount) }
      read(skipping: nil)
    }
    return readings
  }

  /// The first reading whose header names what the last delivery had.
  func sameNames(in readings: [CSVSniffResult]) -> CSVSniffResult? {
    readings.first { isRegular($0) && hasSameNames($0) }
  }

  /// The first reading with as many fields, some of which are those that the last delivery had.
  func sameWidth(in readings: [CSVSniffResult]) -> CSVSniffResult? {
    guard let fieldCount = last.fieldCount, fieldCount > 1, last.headerLineCount != 0 else { return nil }
    let known = Set(last.fields.map(SQLName.folded))
    return readings.first { read in
      isRegular(read) && read.headerNames.count == fieldCount
        && read.headerNames.contains { known.contains(SQLName.folded($0)) }
    }
  }

  /// Whether a header names all that the last delivery had, or nothing else; without one, whether there are as many fields.
  func hasSameNames(_ read: CSVSniffResult) -> Bool {
    if last.headerLineCount == 0 || given.columnNames != nil {
      let count = shape(read).fieldCount
      return last.fieldCount == nil || last.fieldCount == count
    }
    let (known, names) = (Set(last.fields.map(SQLName.folded)), Set(read.headerNames.map(SQLName.folded)))
    if known.isEmpty || names.isEmpty { return false }
    return names.isSuperset(of: known) || known.isSuperset(of: names)
  }

  /// In what a reading differs from the last delivery's, and the options that say so.
  func changes(to read: CSVSniffResult) -> (words: [String], options: Wording) {
    var words: [String] = []
    var options: [Wording] = []
    let now = read.dialect
    if let was = last.delimiter, was != now.delimiter, given.delimiter == nil {
      words.append(
        "the delimiter was \(CSVDialect.name(of: was)), and is \(CSVDialect.name(of: now.delimiter)) now")
      options.append("\(.delimiter)")
    }
    if let was = last.quote, was != CSVOverrides.Mark(now.quote), given.quote == nil {
      words.append("the quote was \(Self.name(was)), and is \(Self.name(CSVOverrides.Mark(now.quote))) now")
      options.append("\(.quote)")
    }
    if last.quote != nil, now.distinctEscape != nil || last.escape != nil, given.escape == nil,
      (last.escape ?? CSVOverrides.Mark.none) != CSVOverrides.Mark(now.distinctEscape)
    {
      let was = Self.name(last.escape ?? CSVOverrides.Mark.none)
      words.append("the escape was \(was), and is \(Self.name(CSVOverrides.Mark(now.distinctEscape))) now")
      options.append("\(.escape)")
    }
    if last.hasNoComments == true, let prefix = now.commentPrefix, given.commentPrefix == nil {
      words.append(
        "no line was a comment, and lines with \(CSVDialect.name(of: prefix)) look like comments now")
      options.append("\(.comment)")
    }
    if let was = last.headerLineCount, (was == 0) != (now.headerLineCount == 0), given.headerLineCount == nil
    {
      words.append(
        was == 0 ? "it had no header, and looks as if it had one now" : "it had a header, and has none now")
      options.append(was == 0 ? "\(.headerLines)" : "\(.noHeader) or \(.names)")
    }
    return (words, Wording(options, separator: ", "))
  }

  private func isRegular(_ read: CSVSniffResult) -> Bool {
    let shape = shape(read)
    return shape.recordCount == 0 || shape.isRegular
  }

  private func shape(_ read: CSVSniffResult) -> SampleShape { Self.shape(of: opened, read.dialect) }

  static func shape(of opened: OpenedSource, _ dialect: CSVDialect) -> SampleShape {
    opened.sample.withUnsafeBufferPointer {
      SampleShape(sample: $0, isWhole: opened.isSampleWhole, dialect: dialect)
    }
  }

  private static func name(_ mark: CSVOverrides.Mark) -> String {
    switch mark {
    case .none: "none"
    case .byte(let byte): CSVDialect.name(of: [byte])
    }
  }
}
