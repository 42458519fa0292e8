/// Sheets of workbooks, whose rows come as text with marks of its own.
extension LoadOptions {
  /// As the text of a sheet is read.
  /// - Throws: `usage` for options of other texts.
  func ofSheet(_ name: String) throws(UpsurgeError) -> LoadOptions {
    let csv = input.csv
    let marks: [(Term, Bool)] = [
      (.delimiter, csv.delimiter != nil), (.quote, csv.quote != nil), (.escape, csv.escape != nil), (.widths, csv.widths != nil),
      (.encoding, input.encoding != .auto), (.jsonPath, !input.jsonPath.isEmpty), (.jsonMap, input.jsonMap != nil),
    ]
    let other: Wording? =
      if let format = input.format, format != .csv { "\(.format, format.rawValue)" } else {
        marks.first { $0.1 }.map { "\(saying: $0.0)" }
      }
    if let other {
      throw UpsurgeError(
        .usage, "\(saying: other) is for text, and \(SourceName.shown(name)) is a sheet", hint: "leave out \(saying: other)")
    }
    var options = self
    options.input.csv = csv.ofSheet
    return options
  }
}
