import ArgumentParser
import Upsurge

/// The options that say where fields stand in lines without delimiters, and in sheets; part of `InputOptions`.
struct LayoutOptions: ParsableArguments {
  @Option(.widths) var widths: [String] = []

  @Option(.sheet) var sheet: String?

  /// Puts the widths that were given into `csv`.
  /// - Throws: `ValidationError` that names the option.
  func apply(to csv: inout CSVOverrides) throws {
    if widths.isEmpty { return }
    let given = try WidthList.parse(GatheredWords.split(widths).joined(separator: ","))
    csv.widths = given.widths
    guard let names = given.names else { return }
    if csv.columnNames != nil { throw ValidationError("--widths names the fields, and so does --names") }
    csv.columnNames = names
  }
}
