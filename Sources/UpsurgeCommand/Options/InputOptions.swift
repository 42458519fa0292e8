import ArgumentParser
import Upsurge

/// The options that say how input is read; shared by the commands that read some.
struct InputOptions: ParsableArguments {
  @Option(.format) var format: RecordFormat?

  @Option(.compression) var compression = LoadOptions.Input().compression

  @Option(.delimiter) var delimiter: String?

  @Option(.quote) var quote: String?

  @Option(.escape) var escape: String?

  @Flag(.noHeader) var hasNoHeader = false

  @Option(.headerLines) var headerLines: Int?

  @OptionGroup var layout: LayoutOptions

  @Option(.dialect) var preset: DialectPreset?

  @Option(.skipLines) var skipLines: Int?

  @Option(.comment) var comment: String?

  @Option(.null) var nullSpellings: [String] = []

  @Option(.quotedEmpty) var quotedEmpty: CSVDialect.QuotedEmpty?

  @Option(.encoding) var encoding: String?

  @Option(.ragged) var ragged: CSVDialect.RaggedPolicy?

  @Option(.quotes) var quotes: CSVDialect.Quotes?

  @Option(.columns) var columnList: String?

  @Option(.rename) var renames: [String] = []

  @Option(.type) var types: [String] = []

  @OptionGroup var json: JSONOptions

  @Option(.infer) var infer = LoadOptions.Table().inference

  @Option(.maxRatio) var maxRatio = "10000"

  @Option(.memory) var memory = LoadOptions.Transaction().memory

  /// Puts what was given into `options`.
  /// - Throws: `ValidationError` that names the option.
  func apply(to options: inout LoadOptions) throws {
    options.input.format = format
    options.input.compression = compression
    if let encoding {
      guard let known = TextEncoding(name: encoding) else {
        let nearest = NearestWord.find(encoding, in: TextEncoding.commonNames).map { "; did you mean \($0)?" }
        throw ValidationError(
          "--encoding \(encoding) is not known\(nearest ?? ""); known, among others (iconv -l lists all): "
            + TextEncoding.commonNames.joined(separator: ", "))
      }
      options.input.encoding = known
    }
    options.input.csv = try csvOverrides()
    options.input.sheet = layout.sheet
    options.table.columns = try columnList.map { try NameList.parse($0, option: "--columns") } ?? []
    for rename in GatheredWords.split(renames) {
      guard let cut = rename.firstIndex(of: "="), cut != rename.startIndex,
        rename.index(after: cut) != rename.endIndex
      else { throw ValidationError("--rename \(rename): give OLD=NEW") }
      let name = String(rename[rename.index(after: cut)...])
      try ValueOptions.put(name, String(rename[..<cut]), in: &options.table.renames, option: "--rename")
    }
    for type in GatheredWords.split(types) {
      guard let cut = type.lastIndex(of: ":"), cut != type.startIndex else {
        throw ValidationError("--type \(type): give COL:TYPE, for example zip:TEXT")
      }
      let declared = String(type[type.index(after: cut)...]).uppercased()
      try ValueOptions.put(declared, String(type[..<cut]), in: &options.table.types, option: "--type")
    }
    for (column, text) in nulls {
      if let column { options.input.values.nulls[column, default: []].append(text) }
    }
    try json.apply(to: &options.input)
    options.table.inference = infer
    options.transaction.memory = memory
    options.input.maximumRatio = try ratio()
  }

  private func ratio() throws -> Double? {
    if maxRatio == "none" { return nil }
    guard let ratio = Double(maxRatio), ratio >= 1, ratio.isFinite else {
      throw ValidationError("--max-ratio \(maxRatio): give a number of at least 1, or none")
    }
    return ratio
  }

  /// The texts that are NULL, some of them in one column: `COL=TEXT`. One that begins with `=` is for all of them.
  private var nulls: [(column: String?, text: String)] {
    GatheredWords.split(nullSpellings).map { word in
      guard let cut = word.firstIndex(of: "=") else { return (nil, word) }
      let text = String(word[word.index(after: cut)...])
      return cut == word.startIndex ? (nil, text) : (String(word[..<cut]), text)
    }
  }

  private func csvOverrides() throws -> CSVOverrides {
    var csv = preset?.overrides ?? CSVOverrides()
    if let delimiter { csv.delimiter = try DialectWord.delimiter(delimiter) }
    if let quote { csv.quote = try DialectWord.mark(quote, option: "--quote") }
    if escape != nil { csv.escaping = .any }
    if let escape { csv.escape = try DialectWord.mark(escape, option: "--escape") }
    if let comment { csv.commentPrefix = Array(comment.utf8) }
    if let headerLines {
      guard (0...100).contains(headerLines) else {
        throw ValidationError("--header-lines takes 0 to 100")
      }
      csv.headerLineCount = headerLines
    }
    if hasNoHeader {
      if let headerLines, headerLines > 0 {
        throw ValidationError("--no-header and --header-lines \(headerLines) contradict each other")
      }
      csv.headerLineCount = 0
    }
    if let skipLines {
      guard skipLines >= 0 else { throw ValidationError("--skip-lines takes 0 or more") }
      csv.skippedLineCount = skipLines
    }
    try layout.apply(to: &csv)
    csv.nullSpellings += nulls.filter { $0.column == nil }.map { Array($0.text.utf8) }
    csv.quotedEmpty = quotedEmpty
    if let ragged { csv.ragged = ragged }
    if let quotes { csv.quotes = quotes }
    return csv
  }
}
