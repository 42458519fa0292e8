/// Which key of a table says what row a record is about.
public enum ConflictTarget: Sendable, Equatable {
  /// The PRIMARY KEY, where the records have all its columns; otherwise none.
  case primaryKey
  /// A PRIMARY KEY, UNIQUE constraint or UNIQUE index on exactly these columns, in any order.
  ///
  /// Of an index on expressions, each expression stands as the index spells it: `lower(email)`. `predicate` is the
  /// `WHERE` of a partial index; when it is nil, a key of all rows is preferred, then the only partial one that
  /// fits; when it is empty, only a key of all rows will do. `rowid`, `oid` and `_rowid_` mean the INTEGER PRIMARY KEY, or
  /// the rowid itself where the table has no PRIMARY KEY.
  case columns([String], where: String? = nil)
  /// The UNIQUE index of this name.
  case index(String)
  /// Every key of the table whose columns the records have; the PRIMARY KEY first.
  case any
  /// Several targets: the first that matches a row decides.
  indirect case firstOf([ConflictTarget])

  /// The columns on which a table that is created gets its PRIMARY KEY; empty for none.
  package var columnNames: [String] {
    if case .columns(let names, _) = self { return names }
    return []
  }
}
