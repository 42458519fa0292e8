import UpsurgeRecords

/// Something that a feed of a job cannot follow: in the schema of a database, or in what the job itself says.
///
///     for warning in try job.check() { print(warning.table, warning.message) }
public struct SchemaWarning: Sendable, Equatable, CustomStringConvertible {
  /// What kind it is. New codes may be added.
  public enum Code: String, Sendable, CaseIterable {
    /// The table is not there.
    case missingTable = "missing-table"
    /// The columns of the key have no unique index, or the job names no key where one is needed.
    case keyWithoutIndex = "key-without-index"
    /// Several sources number their rows in one AUTOINCREMENT key.
    case sharedNumbers = "shared-numbers"
    /// A record can break a second UNIQUE constraint.
    case otherKey = "other-key"
    /// A NOT NULL column without a default gets no value.
    case missingValue = "missing-value"
    /// Rows to which others refer cannot be swept.
    case keptByReferences = "kept-by-references"
    /// A column that SQLite computes.
    case generatedColumn = "generated-column"
    /// The column that marks rows as gone is not there.
    case missingMark = "missing-mark"
    /// Foreign keys delete or change rows that were edited here and are to be kept; such a job is refused.
    case keptRowsChange = "kept-rows-change"
    /// The scope is no condition over the table.
    case badScope = "bad-scope"
    /// SQL of the job cannot be compiled, or names a field that the feed does not have.
    case badSQL = "bad-sql"
    /// The job names a field or a column that the feed does not have.
    case unknownField = "unknown-field"
  }

  public var table: String
  public var code: Code
  /// What a run would meet, in a sentence.
  public var message: String
  /// What helps.
  public var fix: String
  /// Whether it is only to be known: the job itself does what is missing.
  public var isNote = false

  /// Two lines for a person.
  public var description: String {
    "table \(table.escapedForTerminal): \(message.escapedForTerminal)\n  fix: \(fix.escapedForTerminal)"
  }
}
