import ArgumentParser
import Upsurge

/// The options that say how input is read; shared by the commands that read some.
struct InputOptions: ParsableArguments {
  @Option(help: "csv, tsv, ndjson or json; found from the content if not given.")
  var format: RecordFormat?

  @Option(help: "auto, none, zstd or gzip.")
  var compression: Compression = .auto

  @Option(
    help: "Field delimiter: a text, or comma, tab, semicolon, pipe, space; may be several characters.")
  var delimiter: String?

  @Option(help: "Quote character, or none.")
  var quote: String?

  @Option(help: "Escape character, such as a backslash.")
  var escape: String?

  @Flag(
    name: .customLong("no-header"),
    help: "The first line (or JSON array) is data; columns are named c1, c2, ...")
  var hasNoHeader = false

  @Option(help: "Number of header lines; names of several lines are joined.")
  var headerLines: Int?

  @Option(
    name: .customLong("names"),
    help:
      "Names of all fields, A,B,C, instead of those in the header (or where there is none); for JSON arrays, too."
  )
  var nameList: String?

  @Option(
    name: .customLong("dialect"),
    help: """
      How a program writes: mysql (SELECT … INTO OUTFILE, mysql --batch), postgres (COPY), excel or unix. Other options \
      given beside it win.
      """)
  var preset: DialectPreset?

  @Option(help: "Lines to leave out before the header.")
  var skipLines: Int?

  @Option(help: "Lines that start with this are comments.")
  var comment: String?

  @Option(
    name: .customLong("null"), parsing: .singleValue,
    help: "Unquoted fields that mean NULL besides the empty one; may be given again.")
  var nullSpellings: [String] = []

  @Option(
    help: """
      What "" is: null, or text (the empty one); if not given, NULL in columns of numbers and the empty text elsewhere.
      """)
  var quotedEmpty: CSVDialect.QuotedEmpty?

  @Option(
    help:
      "utf-8, utf-16, latin-1, windows-1252, or another one that iconv -l lists: windows-1251, shift_jis, cp850."
  )
  var encoding: String?

  @Option(
    help: """
      Records with too few or too many fields: reject, pad (missing are NULL; empty surplus ones are dropped), \
      or extra (surplus fields kept as JSON in the column "extra").
      """)
  var ragged: CSVDialect.RaggedPolicy?

  @Option(
    help: """
      Records whose quotes make no sense: strict rejects them; lenient takes quotes inside a field as data, where that \
      gives the right number of fields in one line.
      """)
  var quotes: CSVDialect.Quotes?

  @Option(
    name: .customLong("columns"), help: "Load only these fields: A,B,C by their names in the input.")
  var columnList: String?

  @Option(
    name: .customLong("rename"), parsing: .singleValue, help: "OLD=NEW: another name for a field.")
  var renames: [String] = []

  @Option(
    name: .customLong("type"), parsing: .singleValue,
    help: "COL:TYPE: declared type of a column in a new table.")
  var types: [String] = []

  @OptionGroup var json: JSONOptions

  @Option(
    help: "Where the types of a new table come from: sample (first MiB), full (reads all), none (TEXT).")
  var infer: LoadOptions.Inference = .sample

  @Option(
    help: """
      End a compressed input that becomes more than N times as large, behind its first 64 MiB; none for no bound.
      """)
  var maxRatio = "10000"

  @Option(help: "Bound of all memory taken after start-up; at least 16MiB.")
  var memory: ByteSize = .mebibytes(64)

  /// Puts what was given into `options`.
  /// - Throws: `ValidationError` that names the option.
  func apply(to options: inout LoadOptions) throws {
    options.format = format
    options.compression = compression
    if let encoding {
      guard let known = TextEncoding(name: encoding) else {
        let nearest = NearestWord.find(encoding, in: TextEncoding.commonNames).map { "; did you mean \($0)?" }
        throw ValidationError(
          "--encoding \(encoding) is not known\(nearest ?? ""); known, among others (iconv -l lists all): "
            + TextEncoding.commonNames.joined(separator: ", "))
      }
      options.encoding = known
    }
    options.csv = try csvOverrides()
    options.columns = try columnList.map { try NameList.parse($0, option: "--columns") } ?? []
    for rename in GatheredWords.split(renames) {
      guard let cut = rename.firstIndex(of: "="), cut != rename.startIndex,
        rename.index(after: cut) != rename.endIndex
      else { throw ValidationError("--rename \(rename): give OLD=NEW") }
      options.renames[String(rename[..<cut])] = String(rename[rename.index(after: cut)...])
    }
    for type in GatheredWords.split(types) {
      guard let cut = type.lastIndex(of: ":"), cut != type.startIndex else {
        throw ValidationError("--type \(type): give COL:TYPE, for example zip:TEXT")
      }
      options.types[String(type[..<cut])] = String(type[type.index(after: cut)...]).uppercased()
    }
    try json.apply(to: &options)
    options.inference = infer
    options.memory = memory
    options.maximumRatio = try ratio()
  }

  private func ratio() throws -> Double? {
    if maxRatio == "none" { return nil }
    guard let ratio = Double(maxRatio), ratio >= 1, ratio.isFinite else {
      throw ValidationError("--max-ratio \(maxRatio): give a number of at least 1, or none")
    }
    return ratio
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
    if let nameList { csv.columnNames = try NameList.parse(nameList, option: "--names") }
    csv.nullSpellings += GatheredWords.split(nullSpellings).map { Array($0.utf8) }
    csv.quotedEmpty = quotedEmpty
    if let ragged { csv.ragged = ragged }
    if let quotes { csv.quotes = quotes }
    return csv
  }
}
