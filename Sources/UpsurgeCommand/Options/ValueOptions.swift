import ArgumentParser
import Upsurge

/// The options that say how values are written, by column, and what SQL makes of them.
struct ValueOptions: ParsableArguments {
  @Option(.date) var dates: [String] = []

  @Option(.decimal) var decimals: [String] = []

  @Option(.thousands) var thousands: [String] = []

  @Option(.bool) var truths: [String] = []

  @Option(.trim) var trim = ValueFormats().trim

  @Option(.add) var added: [String] = []

  @Option(.let) var lets: [String] = []

  @Option(.where) var filter: String?

  /// Puts what was given into `options`.
  /// - Throws: `ValidationError` that names the option.
  func apply(to options: inout LoadOptions) throws {
    for text in GatheredWords.split(dates) {
      guard let cut = text.firstIndex(of: "="), cut != text.startIndex,
        text.index(after: cut) != text.endIndex
      else {
        throw ValidationError("--date \(text): give COL=FORMAT, for example day=%d/%m/%Y")
      }
      let format = String(text[text.index(after: cut)...])
      try Self.put(format, String(text[..<cut]), in: &options.input.values.dates, option: "--date")
    }
    try applyNumbers(to: &options.input.values)
    for text in GatheredWords.split(truths) {
      let (column, given) = try truth(text)
      try Self.put(given, column, in: &options.input.values.truths, option: "--bool")
    }
    options.input.values.trim = trim
    for text in GatheredWords.split(added) {
      guard let cut = text.firstIndex(of: "="), cut != text.startIndex else {
        throw ValidationError("--add \(text): give COL=VALUE, for example source=file")
      }
      let value = AddedValue(text: String(text[text.index(after: cut)...]))
      try Self.put(value, String(text[..<cut]), in: &options.table.added, option: "--add")
    }
    options.table.computedColumns = try GatheredWords.split(lets).map { text in
      guard let cut = text.firstIndex(of: "="), cut != text.startIndex,
        text.index(after: cut) != text.endIndex
      else {
        throw ValidationError("--let \(text): give COL=SQL, for example 'total=price*qty'")
      }
      return LoadOptions.ComputedColumn(String(text[..<cut]), String(text[text.index(after: cut)...]))
    }
    options.input.filter = filter
  }

  /// Notes what an option says of a column.
  /// - Throws: `ValidationError` where the option has named the column before: of two values one would be lost.
  static func put<Value>(
    _ value: Value, _ column: String, in values: inout [String: Value], option: String
  ) throws {
    if values.updateValue(value, forKey: column) != nil {
      throw ValidationError("\(option) names \(column) twice")
    }
  }

  /// `COL`, or `COL=YES/NO` with commas between several words.
  private func truth(_ text: String) throws -> (String, ValueFormats.Truths) {
    guard let cut = text.firstIndex(of: "=") else { return (text, .usual) }
    guard cut != text.startIndex,
      let words = ValueFormats.Truths(words: String(text[text.index(after: cut)...]))
    else {
      throw ValidationError(
        "--bool \(text): give COL, or COL=YES/NO, for example active=A,active/I,inactive; a slash in a word is //"
      )
    }
    return (String(text[..<cut]), words)
  }

  /// How numbers are written: `MARK` in all columns, `COL=MARK` in one.
  private func applyNumbers(to values: inout ValueFormats) throws {
    var decimalsByColumn: [String: ValueFormats.DecimalMark] = [:]
    var thousandsByColumn: [String: String] = [:]
    let marks = try Self.marks(decimals, option: "--decimal", in: &decimalsByColumn) { word in
      guard let mark = ValueFormats.DecimalMark(rawValue: word) else {
        throw ValidationError("--decimal \(word): give point or comma, or one for a column: lat=point")
      }
      return mark
    }
    let groups = try Self.marks(thousands, option: "--thousands", in: &thousandsByColumn, read: Self.mark)
    values.decimal = marks ?? values.decimal
    values.thousands = groups
    for column in Set(decimalsByColumn.keys).union(thousandsByColumn.keys) {
      let decimal = decimalsByColumn[column]
      // Who says how fractions of the column begin says all of it: the mark between thousands of others is not meant.
      values.numberForms[column] = ValueFormats.Numbers(
        decimal: decimal ?? values.decimal,
        thousands: thousandsByColumn[column] ?? (decimal == nil ? groups : nil))
    }
  }

  /// - Returns: what is given for all columns.
  private static func marks<Mark>(
    _ words: [String], option: String, in columns: inout [String: Mark], read: (String) throws -> Mark
  ) throws -> Mark? {
    var general: Mark?
    for word in GatheredWords.split(words) {
      // A mark may be the equals sign itself.
      if let cut = word.firstIndex(of: "="), cut != word.startIndex {
        try put(
          try read(String(word[word.index(after: cut)...])), String(word[..<cut]), in: &columns,
          option: option)
      } else {
        if general != nil { throw ValidationError("\(option) is given twice for all columns") }
        general = try read(word)
      }
    }
    return general
  }

  private static func mark(_ word: String) -> String {
    switch word {
    case "comma": ","
    case "point": "."
    case "space": " "
    case "apostrophe": "'"
    default: word
    }
  }
}
