import ArgumentParser
import Upsurge

/// How programs write their text formats, by the name of the program.
///
///     mysql      SELECT … INTO OUTFILE and mysql --batch: tabs, no quotes, \N and NULL are NULL, \n \t \\ are escapes
///     postgres   COPY … TO in its text format: the same, but the word NULL is text
///     excel      quotes are doubled, the delimiter is the one of the country
///     unix       commas, quotes are doubled
enum DialectPreset: String, ExpressibleByArgument, CaseIterable {
  case mysql, postgres, excel, unix

  var overrides: CSVOverrides {
    var csv = CSVOverrides()
    csv.commentPrefix = []
    switch self {
    case .mysql, .postgres:
      csv.delimiter = [UInt8(ascii: "\t")]
      csv.quote = CSVOverrides.Mark.none
      csv.escape = .byte(UInt8(ascii: "\\"))
      csv.escaping = .letters
      csv.nullSpellings = [Array("\\N".utf8)] + (self == .mysql ? [Array("NULL".utf8)] : [])
      // They write NULL as what it is, so that an empty field is the empty text.
      csv.bareEmpty = .text
      csv.skippedLineCount = 0
    case .excel, .unix:
      if self == .unix { csv.delimiter = [UInt8(ascii: ",")] }
      csv.quote = .byte(UInt8(ascii: "\""))
      csv.escape = CSVOverrides.Mark.none
    }
    return csv
  }
}
