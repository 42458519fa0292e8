import ArgumentParser
import Upsurge

/// The options that say how values are written, by column, and what SQL makes of them.
struct ValueOptions: ParsableArguments {
  @Option(.date) var dates: [String] = []

  @Option(.decimal) var decimal = ValueFormats().decimal

  @Option(.thousands) var thousands: String?

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
      options.input.values.dates[String(text[..<cut])] = String(text[text.index(after: cut)...])
    }
    options.input.values.decimal = decimal
    options.input.values.thousands = thousands.map(Self.mark)
    for text in GatheredWords.split(truths) {
      let (column, given) = try truth(text)
      options.input.values.truths[column] = given
    }
    options.input.values.trim = trim
    for text in GatheredWords.split(added) {
      guard let cut = text.firstIndex(of: "="), cut != text.startIndex else {
        throw ValidationError("--add \(text): give COL=VALUE, for example source=file")
      }
      options.table.added[String(text[..<cut])] = AddedValue(text: String(text[text.index(after: cut)...]))
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

  /// `COL`, or `COL=YES/NO` with commas between several words.
  private func truth(_ text: String) throws -> (String, ValueFormats.Truths) {
    guard let cut = text.firstIndex(of: "=") else { return (text, .usual) }
    guard cut != text.startIndex, let truths = Self.truths(text[text.index(after: cut)...]) else {
      throw ValidationError("--bool \(text): give COL, or COL=YES/NO, for example active=A,active/I,inactive")
    }
    return (String(text[..<cut]), truths)
  }

  /// `YES/NO`, with commas between several words; nil for what is not that.
  static func truths(_ text: some StringProtocol) -> ValueFormats.Truths? {
    let sides = String(text).split(separator: "/", omittingEmptySubsequences: false)
    guard sides.count == 2 else { return nil }
    let words = sides.map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
    return .words(yes: words[0], no: words[1])
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
