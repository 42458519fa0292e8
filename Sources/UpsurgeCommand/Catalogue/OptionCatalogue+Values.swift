import Upsurge

extension OptionCatalogue {
  /// How values are written, by column, and what SQL makes of them.
  static let values: [OptionSpecification] = [
    OptionSpecification(
      .date, of: .values, .mapping, named: "COL=FORMAT",
      help: """
        Dates and times of the column are written so, in the letters of strptime: 'day=%d/%m/%Y'. They are stored as \
        ISO 8601: 2024-12-31, 2024-12-31T23:59:00+02:00.
        """),
    OptionSpecification(
      .decimal, of: .values, .list(String.self), named: "[COL=]MARK",
      help: """
        What stands before the fraction of a number, in columns of numbers: point or comma. With COL= only in that column, \
        whose numbers then have no mark between thousands unless --thousands COL=CHAR gives one.
        """),
    OptionSpecification(
      .thousands, of: .values, .list(String.self), named: "[COL=]CHAR",
      help: """
        What stands between groups of three digits, in columns of numbers: a character, or comma, point, space, apostrophe. \
        With COL= only in that column.
        """),
    OptionSpecification(
      .bool, of: .values, .listOrMapping(String.self), named: "COL[=YES/NO]",
      help: """
        The column says yes or no, and is stored as 1 and 0, or boolean in PostgreSQL. Without words Y/N, yes/no, \
        true/false, t/f, 1/0, on/off, ja/nein, oui/non, sí/no and others are known. Several words: \
        active=A,active/I,inactive. A slash in a word is doubled: ok=yes/no,N//A.
        """),
    OptionSpecification(
      .trim, of: .values, .value(ValueFormats.Trim.self), named: "WHAT",
      help: "blanks: leave out blanks and tabs around all texts, also quoted ones. none (default): keep them."
    ),
    OptionSpecification(
      .add, of: .values, .mapping, named: "COL=VALUE",
      help: """
        A column that no field fills: file (its name), record, line (their numbers), run (when it began, also where it is \
        resumed), now (when this part of it began), or a text. A text that is one of these words begins with =. By \
        itself the column changes no row.
        """),
    OptionSpecification(
      .let, of: .values, .mapping, named: "COL=SQL",
      help: """
        A column whose value SQL makes of the record's fields: 'total=price*qty'. Fields have their names in the input, \
        and those of CSV are texts.
        """),
    OptionSpecification(
      .where, of: .values, named: "SQL",
      help: """
        Store only records for which this SQL over their fields is true: "kind = 'A'". The others count as filtered.
        """),
  ]
}
