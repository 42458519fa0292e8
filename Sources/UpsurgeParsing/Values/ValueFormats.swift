import UpsurgeRecords

/// How values are written in the input, by column: what a field says is read so before types, key and merge rules.
///
///     var values = ValueFormats()
///     values.dates["day"] = "%d/%m/%Y"
///     values.decimal = .comma
///     values.thousands = "."
///     values.truths["active"] = .usual
public struct ValueFormats: Sendable, Equatable {
  /// What stands between the whole part of a number and its fraction.
  public enum DecimalMark: String, Sendable, CaseIterable {
    case point, comma
  }

  /// What is left out around values.
  public enum Trim: String, Sendable, CaseIterable {
    case none
    /// Blanks and tabs at both ends.
    case blanks
  }

  /// The words of a column that says yes or no.
  public enum Truths: Sendable, Equatable {
    /// `Y`/`N`, `yes`/`no`, `true`/`false`, `t`/`f`, `1`/`0`, `on`/`off`, and those of some other languages.
    case usual
    /// These, in large or small letters, also accented ones such as `Ä` and `É`.
    case words(yes: [String], no: [String])
  }

  /// Formats of dates and times by the names of their columns, in the letters of `strptime`.
  public var dates: [String: String] = [:]
  /// How the numbers of all columns of numbers are written.
  public var decimal = DecimalMark.point
  /// The character between groups of three digits; nil where there are no groups.
  public var thousands: String?
  /// How the numbers of single columns are written, by name, where that is not as in all others.
  public var numberForms: [String: Numbers] = [:]
  /// Columns that say yes or no, by name.
  public var truths: [String: Truths] = [:]
  public var trim = Trim.none
  /// Texts that are NULL in one column, by its name.
  public var nulls: [String: [String]] = [:]

  public init() {}

  /// Whether all values are what they say.
  package var isEmpty: Bool { self == ValueFormats() }

  /// The columns that are named, each with the option that does.
  package var namedColumns: [(name: String, term: Term)] {
    dates.keys.sorted().map { ($0, .date) } + numberForms.sorted { $0.key < $1.key }.map { ($0.key, $0.value.term) }
      + truths.keys.sorted().map { ($0, .bool) }
      + nulls.keys.sorted().map { ($0, .null) }
  }

  /// The formats under other names of their columns.
  /// - Parameter rename: the new name; nil where the column has none, and its formats are left out.
  package func named(by rename: (String) -> String?) -> ValueFormats {
    func renamed<Format>(_ formats: [String: Format]) -> [String: Format] {
      let pairs = formats.sorted { $0.key < $1.key }.compactMap { name, format in
        rename(name).map { ($0, format) }
      }
      return Dictionary(pairs) { first, _ in first }
    }
    var formats = self
    (formats.dates, formats.truths, formats.nulls) = (renamed(dates), renamed(truths), renamed(nulls))
    formats.numberForms = renamed(numberForms)
    return formats
  }

  /// All that is said, as options with their values, in an order of their own.
  package var words: [(term: Term, value: String)] {
    var words: [(term: Term, value: String)] = dates.sorted { $0.key < $1.key }.map {
      (.date, "\($0.key)=\($0.value)")
    }
    if decimal != .point { words.append((.decimal, decimal.rawValue)) }
    if let thousands { words.append((.thousands, thousands)) }
    for (column, form) in numberForms.sorted(by: { $0.key < $1.key }) {
      words.append((.decimal, "\(column)=\(form.decimal.rawValue)"))
      if let thousands = form.thousands { words.append((.thousands, "\(column)=\(thousands)")) }
    }
    for (column, truths) in truths.sorted(by: { $0.key < $1.key }) {
      words.append((.bool, column + truths.suffix))
    }
    if trim != .none { words.append((.trim, trim.rawValue)) }
    for (column, texts) in nulls.sorted(by: { $0.key < $1.key }) {
      for text in texts { words.append((.null, "\(column)=\(text)")) }
    }
    return words
  }

  /// - Throws: `usage` for a format of dates that cannot be, marks that are the same, and columns that are named twice.
  package func validate() throws(UpsurgeError) {
    for (column, format) in dates.sorted(by: { $0.key < $1.key }) {
      _ = try DateFormat(format)
      try Self.checkOther(truths.keys, .bool, column, .date)
      try Self.checkOther(numberForms.keys, .decimal, column, .date)
    }
    for column in numberForms.keys.sorted() { try Self.checkOther(truths.keys, .bool, column, .decimal) }
    if let twice = Self.firstTwice(dates.keys) ?? Self.firstTwice(truths.keys) ?? Self.firstTwice(nulls.keys)
      ?? Self.firstTwice(numberForms.keys)
    {
      throw UpsurgeError(
        .usage, "the column \(twice.escapedForTerminal) is named twice, in other letters",
        hint: "name it once: names of columns do not differ by their case")
    }
    try Numbers(decimal: decimal, thousands: thousands).validate()
    for (_, form) in numberForms.sorted(by: { $0.key < $1.key }) { try form.validate() }
    for (column, truths) in truths.sorted(by: { $0.key < $1.key }) { try truths.validate(column) }
  }

  /// - Throws: `usage` where a column has a format of another kind, too.
  private static func checkOther(
    _ names: some Sequence<String>, _ other: Term, _ column: String, _ term: Term
  ) throws(UpsurgeError) {
    guard let name = names.first(where: { $0.nameKey == column.nameKey }) else { return }
    throw UpsurgeError(
      .usage, "the column \(name.escapedForTerminal) is named by \(saying: term) and by \(saying: other)",
      hint: "leave out one of them")
  }

  private static func firstTwice(_ names: some Collection<String>) -> String? {
    var seen: Set<String> = []
    return names.sorted().first { !seen.insert($0.nameKey).inserted }
  }
}
