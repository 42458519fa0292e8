import UpsurgeRecords

/// How records are laid out in JSON input.
public enum JSONFormat: String, Sendable, CaseIterable {
  /// One value a line.
  case ndjson
  /// A document: an array of records, or a single record; with `JSONDialect.allowsSequence` one after another.
  case json
}

/// What names the columns of records that are arrays.
public enum JSONArrayNames: Sendable, Equatable {
  /// The first array.
  case firstArray
  /// Names that are given, in place of those in the first array where that is a header.
  case given([String], replacesHeader: Bool)
  /// `c1`, `c2`…; the first array is a record.
  case numbered
}

/// How JSON input is to be read.
public struct JSONDialect: Sendable, Equatable {
  /// What happens to a key that stands twice in one object.
  public enum DuplicateKeys: String, Sendable, CaseIterable {
    /// The last value counts; a warning says where.
    case lastWins = "last-wins"
    /// The record is a reject.
    case reject
  }

  /// What `NaN`, `Infinity` and `-Infinity` are as values, which some programs write and JSON does not know.
  public enum NonFinite: String, Sendable, CaseIterable {
    /// NULL.
    case null
    /// The record with such a number is a reject.
    case reject
  }

  /// The deepest nesting that `maximumDepth` can allow.
  public static let depthLimit = 1024

  public var format: JSONFormat
  /// The keys that lead from the document to the array of records; only for `.json`.
  public var jsonPath: [String]
  /// When given, `{"a": {"b": 1}}` becomes a column `a<separator>b`; otherwise JSON text in a column `a`.
  public var flattenSeparator: String?
  public var duplicateKeys: DuplicateKeys
  /// How many brackets may be open at once, 1...1,024.
  public var maximumDepth: Int
  /// Whether values may follow one another without line ends, on one line or as documents. Then record separators
  /// (RFC 7464) and byte order marks between values are left out as well.
  public var allowsSequence = false
  /// What `NaN` and infinities are; nil: an error like any other, which ends a document.
  public var nonFinite: NonFinite?
  /// Where the keys go of an object each of whose values is a record; nil where an array holds the records.
  public var mapColumn: String?
  /// What names the columns of array records.
  public var arrayNames = JSONArrayNames.firstArray
  /// Whether several documents must end with a line end, because nothing else shows that they are not cut.
  package var needsLineEnd = false

  public init(
    format: JSONFormat = .ndjson, jsonPath: [String] = [], flattenSeparator: String? = nil,
    duplicateKeys: DuplicateKeys = .lastWins, maximumDepth: Int = JSONDialect.depthLimit
  ) {
    self.format = format
    self.jsonPath = jsonPath
    self.flattenSeparator = flattenSeparator
    self.duplicateKeys = duplicateKeys
    self.maximumDepth = maximumDepth
  }
}

/// Which keys of the records become columns.
package struct JSONKeyPolicy: Sendable, Equatable {
  /// What happens to a key for which there is no column.
  package enum UnknownKey: Sendable, Equatable {
    /// A column appears, with the affinity of the key's first value and this policy.
    case add(ColumnTarget.SpellingPolicy)
    /// A column without affinity appears, so that every value stays what it is: for samples.
    case addUntyped
    /// A column of texts appears, so that numbers keep their digits: for records that are still to be given their columns.
    case addAsWritten
    /// The key is left out.
    case skip
    /// The run stops (`guardRefused`); the name is the table's.
    case refuse(table: String)
  }

  package var unknown: UnknownKey
  /// When given, only these keys (as they stand in the input, flattened) are read; the rest is left out.
  package var wanted: [String]?
  /// Names of columns by the key they are read from.
  package var renames: [String: String]
  /// A column of the table that marks rows as gone: a record that names it stops the run (`usage`).
  package var mark: String?

  package init(
    unknown: UnknownKey, wanted: [String]? = nil, renames: [String: String] = [:], mark: String? = nil
  ) {
    self.unknown = unknown
    self.wanted = wanted
    self.renames = renames
    self.mark = mark
  }
}
