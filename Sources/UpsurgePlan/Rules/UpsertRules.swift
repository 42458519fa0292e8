/// What is to happen to the records of a run: everything that can be said without knowing the table.
///
/// `UpsertPlan` is what they come to for one table and the columns of one input.
public struct UpsertRules: Sendable, Equatable {
  public var target: ConflictTarget
  /// `nil` is `upsert` where the target names a key or the table's PRIMARY KEY is in the input, else `insert`.
  public var mode: WriteMode?
  public var merge: Merge
  public var nullKeys: NullKeyPolicy
  /// Records that are deletes, inside any mode.
  public var tombstone: Tombstone?
  /// The column that says which rows are gone; a record takes that back.
  package var softColumn: String?
  /// Whether a key that is an INTEGER PRIMARY KEY must be given: of a snapshot's record that gets its number from SQLite,
  /// nobody would know the row again in the next delivery.
  package var needsRowids = false
  /// Whether it is counted how many records of an upsert have no value in a key that is an INTEGER PRIMARY KEY: each run
  /// would store them anew, with another number.
  package var countsNumbered = false

  public init(
    target: ConflictTarget = .primaryKey, mode: WriteMode? = nil, merge: Merge = Merge(),
    nullKeys: NullKeyPolicy = .reject, tombstone: Tombstone? = nil
  ) {
    self.target = target
    self.mode = mode
    self.merge = merge
    self.nullKeys = nullKeys
    self.tombstone = tombstone
  }
}

extension UpsertRules {
  /// The columns that say which row a record is about; empty means the primary key, if the input has it.
  public var key: [String] {
    get { target.columnNames }
    set { target = newValue.isEmpty ? .primaryKey : .columns(newValue) }
  }
}

/// What becomes of a record with NULL in its key, which matches no row and would be stored anew by every run.
///
/// An INTEGER PRIMARY KEY that is NULL gets its number, and a key with `NOT NULL ON CONFLICT REPLACE` its default,
/// as usual.
public enum NullKeyPolicy: String, Sendable, CaseIterable {
  case reject, insert
}

/// Says which records are deletes: those whose column equals a value.
public struct Tombstone: Sendable, Equatable {
  /// A column of the records; it need not be one of the table, and is only stored where it is.
  public var column: String
  /// The value as text. `1` equals the integer 1 and the text `1`, `true` also the integer 1 as which JSON's true is
  /// stored; an empty value equals NULL.
  public var value: String

  public init(column: String, value: String) {
    self.column = column
    self.value = value
  }
}
