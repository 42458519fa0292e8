import ArgumentParser
import Upsurge

/// The options that say what fields are called, and where they stand in lines without delimiters and in sheets; part of
/// `InputOptions`.
struct LayoutOptions: ParsableArguments {
  @Option(.names) var nameList: String?

  @Option(.widths) var widths: [String] = []

  @Option(.sheet) var sheet: String?

  /// Puts the names and widths that were given into `csv`.
  /// - Throws: `ValidationError` that names the option.
  func apply(to csv: inout CSVOverrides) throws {
    if let nameList { csv.columnNames = try NameList.parse(nameList, option: "--names") }
    if widths.isEmpty { return }
    let given = try WidthList.parse(GatheredWords.split(widths).joined(separator: ","))
    csv.widths = given.widths
    guard let names = given.names else { return }
    if csv.columnNames != nil { throw ValidationError("--widths names the fields, and so does --names") }
    csv.columnNames = names
  }
}
