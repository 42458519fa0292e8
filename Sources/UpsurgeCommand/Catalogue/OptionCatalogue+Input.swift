import Upsurge

extension OptionCatalogue {
  /// How input is read; shared by the commands that read some.
  static let input: [OptionSpecification] = [
    OptionSpecification(
      .format, of: .input, .value(RecordFormat.self),
      help: "csv, tsv, ndjson or json; found from the content if not given."),
    OptionSpecification(
      .compression, of: .input, .value(Compression.self),
      help: "auto, none, zstd or gzip."),
    OptionSpecification(
      .delimiter, of: .input,
      help: "Field delimiter: a text, or comma, tab, semicolon, pipe, space; may be several characters."),
    OptionSpecification(.quote, of: .input, help: "Quote character, or none."),
    OptionSpecification(.escape, of: .input, help: "Escape character, such as a backslash."),
    OptionSpecification(
      .noHeader, of: .input, .flag,
      help: "The first line (or JSON array) is data; columns are named c1, c2, ..."),
    OptionSpecification(
      .headerLines, of: .input, .value(Int.self),
      help: "Number of header lines; names of several lines are joined."),
    OptionSpecification(
      .names, of: .input, .names,
      help: """
        Names of all fields, A,B,C, instead of those in the header (or where there is none); for JSON arrays, too.
        """),
    OptionSpecification(
      .dialect, of: .input, .value(DialectPreset.self),
      help: """
        How a program writes: mysql (SELECT … INTO OUTFILE, mysql --batch), postgres (COPY), excel or unix. Other \
        options given beside it win.
        """),
    OptionSpecification(
      .skipLines, of: .input, .value(Int.self),
      help: "Lines to leave out before the header."),
    OptionSpecification(.comment, of: .input, help: "Lines that start with this are comments."),
    OptionSpecification(
      .null, of: .input, .list(String.self),
      help: "Unquoted fields that mean NULL besides the empty one; may be given again."),
    OptionSpecification(
      .quotedEmpty, of: .input, .value(CSVDialect.QuotedEmpty.self),
      help: """
        What "" is: null, or text (the empty one); if not given, NULL in columns of numbers and the empty text \
        elsewhere.
        """),
    OptionSpecification(
      .encoding, of: .input,
      help: """
        utf-8, utf-16, latin-1, windows-1252, or another one that iconv -l lists: windows-1251, shift_jis, cp850.
        """),
    OptionSpecification(
      .ragged, of: .input, .value(CSVDialect.RaggedPolicy.self),
      help: """
        Records with too few or too many fields: reject, pad (missing are NULL; empty surplus ones are dropped), or \
        extra (surplus fields kept as JSON in the column "extra").
        """),
    OptionSpecification(
      .quotes, of: .input, .value(CSVDialect.Quotes.self),
      help: """
        Records whose quotes make no sense: strict rejects them; lenient takes quotes inside a field as data, where \
        that gives the right number of fields in one line.
        """),
    OptionSpecification(
      .columns, of: .input, .names,
      help: "Load only these fields: A,B,C by their names in the input."),
    OptionSpecification(.rename, of: .input, .mapping, help: "OLD=NEW: another name for a field."),
    OptionSpecification(
      .type, of: .input, .mapping,
      help: "COL:TYPE: declared type of a column in a new table."),
    OptionSpecification(
      .flatten, of: .input, .valueOrFlag("_"), named: "sep",
      help: "Nested JSON objects become columns: a_b. Another separator than _ may be given."),
    OptionSpecification(
      .jsonPath, of: .input,
      help:
        "Keys that lead to the array of records in a JSON document: data.items; $ for the document itself."),
    OptionSpecification(
      .jsonMap, of: .input, named: "column",
      help: """
        The document, or what --json-path leads to, is an object each of whose values is a record; its key goes into \
        this column.
        """),
    OptionSpecification(
      .duplicateKeys, of: .input, .value(JSONDialect.DuplicateKeys.self),
      help: "A key twice in one JSON object: last-wins or reject."),
    OptionSpecification(
      .jsonNaN, of: .input, .value(JSONDialect.NonFinite.self),
      help: "NaN and Infinity as JSON values: null, or reject the record."),
    OptionSpecification(
      .infer, of: .input, .value(LoadOptions.Inference.self),
      help: "Where the types of a new table come from: sample (first MiB), full (reads all), none (TEXT)."),
    OptionSpecification(
      .maxRatio, of: .input,
      help: """
        End a compressed input that becomes more than N times as large, behind its first 64 MiB; none for no bound.
        """),
    OptionSpecification(
      .memory, of: .input, .value(ByteSize.self),
      help: "Bound of all memory taken after start-up; at least 16MiB."),
  ]
}
