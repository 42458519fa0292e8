import ArgumentParser
import Upsurge

/// The options that say how values are written, by column.
struct ValueOptions: ParsableArguments {
  @Option(.date) var dates: [String] = []

  @Option(.decimal) var decimal = ValueFormats().decimal

  @Option(.thousands) var thousands: String?

  @Option(.bool) var truths: [String] = []

  @Option(.trim) var trim = ValueFormats().trim

  @Option(.add) var added: [String] = []

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
    options.input.values.decimal = decimal
    options.input.values.thousands = thousands.map(Self.mark)
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
    guard cut != text.startIndex, let words = ValueFormats.Truths(words: String(text[text.index(after: cut)...]))
    else {
      throw ValidationError(
        "--bool \(text): give COL, or COL=YES/NO, for example active=A,active/I,inactive; a slash in a word is //")
    }
    return (String(text[..<cut]), words)
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
