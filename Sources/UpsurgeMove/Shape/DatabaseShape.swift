import UpsurgeSQLite

/// A database as a move sees it: what moves, and what stays.
struct DatabaseShape: Sendable, Equatable {
  var tables: [TableShape] = []
  var leftOut: [LeftOut] = []
}

/// Something that does not move.
package struct LeftOut: Sendable, Equatable {
  /// `view recent`, `trigger log of orders`.
  package var what: String
  /// Why, and what to do about it.
  package var reason: String

  init(_ what: String, _ reason: String) { (self.what, self.reason) = (what, reason) }
}

/// A table as its database describes it. Expressions are in the words of that database.
struct TableShape: Sendable, Equatable {
  var name: String
  var columns: [ColumnShape] = []
  /// The columns of its primary key, in its order; empty without one.
  var primaryKey: [String] = []
  /// UNIQUE constraints, and indexes of any kind, but for that of the primary key.
  var indexes: [IndexShape] = []
  var foreignKeys: [ForeignKeyShape] = []
  var checks: [String] = []
  var comment: String?
  /// What its rows are read in the order of, as SQL; nil where nothing says an order that is the same each time.
  var order: String?

  func column(_ name: String) -> ColumnShape? { columns.first { SQLName.isSame($0.name, name) } }

  /// Whether these columns find one row at most, so that a foreign key may refer to them.
  func isUnique(_ names: [String]) -> Bool {
    func isSame(_ others: [String]) -> Bool {
      Set(others.map(SQLName.folded)) == Set(names.map(SQLName.folded))
    }
    return !primaryKey.isEmpty && isSame(primaryKey)
      || indexes.contains { $0.isUnique && $0.predicate == nil && isSame($0.columns) }
  }
}

/// A column as its database describes it.
struct ColumnShape: Sendable, Equatable {
  var name: String
  /// As it is declared: `VARCHAR(20)`, `numeric(10,2)`; empty where SQLite has no type.
  var type: String
  var isNotNull = false
  /// As SQL.
  var defaultText: String?
  /// The expression of a generated column.
  var generated: String?
  /// Whether a rowid or a sequence numbers new rows.
  var isNumbered = false
  var comment: String?
}

/// An index, or a UNIQUE constraint.
struct IndexShape: Sendable, Equatable {
  /// One column or expression.
  struct Part: Sendable, Equatable {
    /// The column's name, or an expression.
    var text: String
    var isColumn = true
    var isDescending = false
    /// A collation that the other kind of database has not.
    var collation: String?
  }

  var name: String
  var isUnique = false
  /// Whether a UNIQUE constraint made it.
  var isConstraint = false
  var parts: [Part] = []
  /// The WHERE of a partial index.
  var predicate: String?
  /// Why it cannot be made elsewhere; nil where it may.
  var obstacle: String?

  /// The columns; none where a part is an expression.
  var columns: [String] { parts.allSatisfy(\.isColumn) ? parts.map(\.text) : [] }
}

/// A foreign key.
struct ForeignKeyShape: Sendable, Equatable {
  var columns: [String]
  var parent: String
  var parentColumns: [String]
  /// `NO ACTION`, `RESTRICT`, `CASCADE`, `SET NULL`, `SET DEFAULT`.
  var onDelete = "NO ACTION"
  var onUpdate = "NO ACTION"
  /// Whether it is looked at when the transaction ends.
  var isDeferred = false
}
