import Upsurge

extension OptionCatalogue {
  /// How input is read; shared by the commands that read some.
  static let input: [OptionSpecification] = [
    OptionSpecification(
      .format, of: .input, .value(RecordFormat.self), named: "FORMAT",
      help: "csv, tsv, ndjson or json. Without it, found from the content."),
    OptionSpecification(
      .compression, of: .input, .value(Compression.self), named: "METHOD",
      help: "auto, none, zstd, gzip, xz, bzip2, lz4 or compress."),
    OptionSpecification(
      .delimiter, of: .input, named: "TEXT",
      help: "Text between fields: one or more characters, or comma, tab, semicolon, pipe, space."),
    OptionSpecification(.quote, of: .input, named: "CHAR", help: "Quote character, or none."),
    OptionSpecification(.escape, of: .input, named: "CHAR", help: "Escape character, such as a backslash."),
    OptionSpecification(
      .noHeader, of: .input, .flag,
      help: "The first line (or JSON array) is data. Columns are named c1, c2, ..."),
    OptionSpecification(
      .headerLines, of: .input, .value(Int.self),
      help: "Number of header lines. The names of several lines are joined."),
    OptionSpecification(
      .names, of: .input, .names,
      help: "Names of all fields, A,B,C, instead of those in the header. Also for JSON arrays."),
    OptionSpecification(
      .widths, of: .input, .list(String.self), named: "WIDTHS",
      help: """
        Lines without marks between their fields: the characters of each, NAME:N,NAME:N or N,N. :N leaves characters out, \
        NAME:* is the rest of the line. Blanks around a value are left out.
        """),
    OptionSpecification(
      .sheet, of: .input, named: "NAME|N",
      help: "The sheet of an Excel or LibreOffice workbook (.xlsx, .ods). Without it, the first one that is not hidden."),
    OptionSpecification(
      .dialect, of: .input, .value(DialectPreset.self), named: "PROGRAM",
      help: """
        The program that wrote the file: mysql (SELECT … INTO OUTFILE, mysql --batch), postgres (COPY), excel or unix. \
        Other options win over it.
        """),
    OptionSpecification(
      .skipLines, of: .input, .value(Int.self),
      help: "Leave out N lines before the header."),
    OptionSpecification(
      .comment, of: .input, named: "TEXT", help: "Lines that start with this are comments."),
    OptionSpecification(
      .null, of: .input, .listOrMapping(String.self), named: "[COL=]TEXT",
      help: """
        Unquoted fields with this text are NULL, as the empty field is. With COL= only those of the column, also quoted \
        ones and JSON strings. It may be given for several texts, also of one column. A text with = in it begins with another \
        one: '=a=b'.
        """),
    OptionSpecification(
      .quotedEmpty, of: .input, .value(CSVDialect.QuotedEmpty.self), named: "null|text",
      help: """
        What "" is: null, or text (the empty one). Without it, NULL in columns of numbers and the empty text elsewhere.
        """),
    OptionSpecification(
      .encoding, of: .input, named: "NAME",
      help: """
        utf-8, utf-16, latin-1, windows-1252, or any that iconv -l lists, such as windows-1251, shift_jis, cp850.
        """),
    OptionSpecification(
      .ragged, of: .input, .value(CSVDialect.RaggedPolicy.self), named: "POLICY",
      help: """
        Records with too few or too many fields: reject, pad or extra. pad stores NULL for missing fields and drops \
        empty surplus ones. extra keeps surplus fields as JSON in the column "extra".
        """),
    OptionSpecification(
      .quotes, of: .input, .value(CSVDialect.Quotes.self), named: "POLICY",
      help: """
        Records whose quotes make no sense: strict rejects them. lenient takes quotes inside a field as data, where \
        that gives the right number of fields in one line.
        """),
    OptionSpecification(
      .columns, of: .input, .names,
      help: "Load only these fields: A,B,C by their names in the input."),
    OptionSpecification(
      .rename, of: .input, .mapping, named: "OLD=NEW", help: "Another name for a field."),
    OptionSpecification(
      .type, of: .input, .mapping, named: "COL:TYPE",
      help: "Declared type of a column in a new table, as in zip:TEXT."),
    OptionSpecification(
      .flatten, of: .input, .valueOrFlag("_"), named: "[SEP]",
      help: "Nested JSON objects become columns: a_b. Another separator than _ may be given."),
    OptionSpecification(
      .jsonPath, of: .input, named: "PATH",
      help:
        "Keys that lead to the array of records in a JSON document: data.items. $ is the document itself."),
    OptionSpecification(
      .jsonMap, of: .input, named: "COL",
      help: """
        The document, or what --json-path leads to, is an object whose values are the records. The key of each goes \
        into the column COL.
        """),
    OptionSpecification(
      .duplicateKeys, of: .input, .value(JSONDialect.DuplicateKeys.self), named: "POLICY",
      help: "A key twice in one JSON object: last-wins or reject."),
    OptionSpecification(
      .jsonNaN, of: .input, .value(JSONDialect.NonFinite.self), named: "POLICY",
      help: "NaN and Infinity as JSON values: null, or reject the record."),
    OptionSpecification(
      .infer, of: .input, .value(LoadOptions.Inference.self), named: "METHOD",
      help: "Where the types of a new table come from: sample (first MiB), full (all records), none (TEXT)."),
    OptionSpecification(
      .maxRatio, of: .input, named: "N|none",
      help: """
        Abort if a compressed input expands more than N times (checked after 64 MiB). none: no bound.
        """),
    OptionSpecification(
      .memory, of: .input, .value(ByteSize.self),
      help: "Bound of all memory taken after start-up. At least 16MiB."),
  ]
}
