import UpsurgeInput

extension LoadOptions {
  /// All that says which records a source holds, and what their fields are: term by term, as a person may read it. The formats
  /// of values are not among them.
  ///
  /// Where one of these changes, the records of one source say something else. So a new option that does the like belongs here.
  package var recordWords: [(term: Term, value: String)] {
    input.dialectWords + input.recordWords + table.recordWords
  }
}

extension LoadOptions.Input {
  /// How fields are told apart, and which texts mean nothing.
  fileprivate var dialectWords: [(term: Term, value: String)] {
    var words: [(term: Term, value: String)] = []
    if let format { words.append((.format, format.rawValue)) }
    if encoding != .auto { words.append((.encoding, encoding.rawValue)) }
    if let delimiter = csv.delimiter { words.append((.delimiter, CSVDialect.name(of: delimiter))) }
    if let widths = csv.widths { words.append((.widths, widths.text)) }
    if let quote = csv.quote { words.append((.quote, Self.name(quote))) }
    if let escape = csv.escape {
      words.append((.escape, Self.name(escape) + (csv.escaping == .any ? "" : " \(csv.escaping.rawValue)")))
    }
    if let prefix = csv.commentPrefix { words.append((.comment, String(decoding: prefix, as: UTF8.self))) }
    if let count = csv.headerLineCount { words.append((.headerLines, "\(count)")) }
    if let count = csv.skippedLineCount { words.append((.skipLines, "\(count)")) }
    if let names = csv.columnNames { words.append((.names, names.joined(separator: ","))) }
    words += csv.nullSpellings.map { (.null, String(decoding: $0, as: UTF8.self)) }
    if let quotedEmpty = csv.quotedEmpty { words.append((.quotedEmpty, quotedEmpty.rawValue)) }
    if csv.bareEmpty != .null {
      words.append((.dialect, "unquoted empty fields are \(csv.bareEmpty.rawValue)"))
    }
    if csv.ragged != .reject { words.append((.ragged, csv.ragged.rawValue)) }
    if csv.quotes != .strict { words.append((.quotes, csv.quotes.rawValue)) }
    return words
  }

  /// Which records are taken, and what JSON says.
  fileprivate var recordWords: [(term: Term, value: String)] {
    var words: [(term: Term, value: String)] = []
    if let sheet { words.append((.sheet, sheet)) }
    if let flattenSeparator { words.append((.flatten, flattenSeparator)) }
    if !jsonPath.isEmpty { words.append((.jsonPath, jsonPath.joined(separator: "."))) }
    if takesWrapper { words.append((.jsonPath, "$")) }
    if let jsonMap { words.append((.jsonMap, jsonMap)) }
    if jsonNaN != .reject { words.append((.jsonNaN, jsonNaN.rawValue)) }
    if duplicateKeys != .lastWins { words.append((.duplicateKeys, duplicateKeys.rawValue)) }
    if let filter { words.append((.where, filter)) }
    return words
  }

  private static func name(_ mark: CSVOverrides.Mark) -> String {
    switch mark {
    case .none: "none"
    case .byte(let byte): CSVDialect.name(of: [byte])
    }
  }
}

extension LoadOptions.Table {
  /// Which fields are taken, and into which columns.
  fileprivate var recordWords: [(term: Term, value: String)] {
    var words: [(term: Term, value: String)] = columns.map { (.columns, SQLName.folded($0)) }
    words += renames.sorted { $0.key < $1.key }.map { (.rename, "\($0.key)=\($0.value)") }
    words += computedColumns.map { (.let, "\($0.name)=\($0.sql)") }
    if let blobEncoding { words.append((.blob, blobEncoding.rawValue)) }
    return words
  }
}
