/// What a database holds, as far as loading into it depends on it: what `upsurge inspect DB` shows.
public struct DatabaseDescription: Sendable {
  public var path: String
  public var byteCount: UInt64
  public var pageSize: Int
  /// `wal`, `delete` and so on.
  public var journalMode: String
  /// In alphabetical order; virtual tables too.
  public var tables: [Table] = []
  public var views: [View] = []
  /// Tables that hold the content of virtual tables, and are not shown.
  public var shadowTableCount = 0
  /// What `PRAGMA integrity_check` complains of; only looked for when everything is read.
  public var damages: [String] = []

  /// How many rows a table has.
  public enum RowCount: Sendable, Equatable {
    case exact(UInt64)
    /// At most so many, by the largest rowid: the database is too large to be counted by the way.
    case atMost(UInt64)
    case unknown
  }

  public struct Table: Sendable {
    public var name: String
    public var isVirtual = false
    public var isStrict = false
    public var isWithoutRowid = false
    public var rowCount = RowCount.unknown
    public var columns: [Column] = []
    public var keys: [Key] = []
    public var indexes: [Index] = []
    public var foreignKeys: [ForeignKey] = []
    public var referencingTables: [String] = []
    public var triggers: [Trigger] = []
    /// Of an FTS5 table: where its content is.
    public var fullTextContent: FullTextContent?
    /// Functions that only applications register and that the table's DEFAULTs or CHECKs call.
    public var applicationFunctions: [String] = []
    /// Why the table cannot be read, where it cannot (a virtual table of a module that is not there).
    public var problem: String?
  }

  public struct Column: Sendable {
    public var name: String
    public var declaredType: String
    public var isNotNull: Bool
    public var defaultExpression: String?
    /// BINARY when none is declared.
    public var collation: String
    public var isGenerated: Bool
    public var isHidden: Bool
  }

  /// A PRIMARY KEY or UNIQUE index, which `--key` can name.
  public struct Key: Sendable {
    /// `PRIMARY KEY`, `UNIQUE` or `UNIQUE INDEX`.
    public var kind: String
    public var indexName: String?
    /// Columns and expressions.
    public var parts: [String]
    /// The WHERE of a partial index.
    public var predicate: String?
    /// The options of `load` that mean this key, as a shell takes them.
    public var option: String
  }

  public struct Index: Sendable {
    public var name: String
    /// Columns and expressions.
    public var parts: [String]
    public var isPartial: Bool
    public var sql: String

    package init(name: String, parts: [String], isPartial: Bool, sql: String) {
      (self.name, self.parts, self.isPartial, self.sql) = (name, parts, isPartial, sql)
    }
  }

  public struct ForeignKey: Sendable {
    public var columns: [String]
    public var parentTable: String
    /// The PRIMARY KEY of the parent where the schema names none.
    public var parentColumns: [String]

    package init(columns: [String], parentTable: String, parentColumns: [String]) {
      (self.columns, self.parentTable, self.parentColumns) = (columns, parentTable, parentColumns)
    }
  }

  public struct Trigger: Sendable {
    public var name: String
    /// Functions it calls that SQLite does not have: it fails in programs that do not register them.
    public var applicationFunctions: [String]
  }

  public enum FullTextContent: Sendable, Equatable {
    case own
    /// Only the index is kept.
    case contentless
    /// The content is that table or view.
    case table(String)
  }

  public struct View: Sendable {
    public var name: String
    public var columns: [String]
    public var triggers: [Trigger]
    public var applicationFunctions: [String]
    /// Why it cannot be read, where it cannot.
    public var problem: String?
  }
}
