import UpsurgeInput

extension LoadOptions {
  /// How the bytes of sources become records.
  public struct Input: Sendable {
    /// What the input is made of; `nil` is found from its content.
    public var format: RecordFormat?
    public var compression: Compression = .auto
    public var encoding: TextEncoding = .auto
    /// Parts of the CSV dialect that are given; the rest is sniffed.
    public var csv = CSVOverrides()
    /// Joins the keys of nested JSON objects into column names; `nil` keeps them as JSON text.
    public var flattenSeparator: String?
    /// Where in a JSON document the array of records is.
    public var jsonPath: [String] = []
    /// The column for the keys of an object each of whose values is a record; nil where an array holds the records.
    public var jsonMap: String?
    /// What `NaN`, `Infinity` and `-Infinity` are in JSON.
    public var jsonNaN = JSONDialect.NonFinite.reject
    /// Whether an object that seems only to wrap an array of records is a record all the same.
    public var takesWrapper = false
    /// How values are written, by column: dates, decimals, yes and no.
    public var values = ValueFormats()
    public var duplicateKeys: JSONDialect.DuplicateKeys = .lastWins
    /// At most so many records are read, rejected ones included.
    public var recordLimit: UInt64?
    /// A compressed source may become so many times larger, after its first 64 MiB; nil is no bound.
    public var maximumRatio: Double? = 10_000

    public init() {}

    /// How a record is read, wherever in its document it stands.
    func dialect(of format: JSONFormat) -> JSONDialect {
      var dialect = JSONDialect(
        format: format, flattenSeparator: flattenSeparator, duplicateKeys: duplicateKeys)
      dialect.nonFinite = jsonNaN
      dialect.mapColumn = jsonMap
      return dialect
    }
  }
}

/// What records are made of.
public enum RecordFormat: String, Sendable, CaseIterable {
  case csv, tsv, ndjson, json
}
