import UpsurgeRecords
public struct CSVOverrides: Sendable {
  public var delimiter: [UInt8]?
  public var quote: UInt8??
  public var escape: UInt8??
  public var commentPrefix: [UInt8]?
  public var headerLineCount: Int?
  public var skippedLineCount: Int?
  public var nullSpellings: [[UInt8]] = []
  public var ragged: CSVDialect.RaggedPolicy = .reject
  public init() {}
}
package struct CSVSniffResult: Sendable {
  package var dialect: CSVDialect
  package var headerNames: [String]
  package var summary: String { dialect.summary }
}
package enum CSVSniffer {
  package static func sniff(sample: [UInt8], isWhole: Bool, given: CSVOverrides) -> CSVSniffResult {
    var d = CSVDialect(delimiter: given.delimiter ?? [44])
    d.ragged = given.ragged
    let line = String(decoding: sample.prefix { $0 != 10 }, as: UTF8.self)
    return CSVSniffResult(dialect: d, headerNames: line.split(separator: ",").map(String.init))
  }
}
