/// What is to happen to the rows of records, without knowing the table.
package struct OrderedRules: Sendable, Equatable {
  /// What a column becomes whose row exists.
  package enum Change: Sendable, Equatable {
    /// What the record says.
    case replace
    /// What the record says, where another column is to become another value.
    case along
    /// What SQL says, where a name is the row's and `excluded.NAME` the record's, as in SQLite.
    case expression(String)
  }

  package enum Conflict: Sendable, Equatable {
    case update
    /// The row stays.
    case ignore
    /// A row of the same key is an error.
    case fail
  }

  /// What a record does.
  package enum Action: Sendable, Equatable {
    /// The record is stored: a new row, or what `conflict` says of the row that is there.
    case store
    /// The record changes the row that is there, and makes none.
    case update
    /// The record deletes the row.
    case delete
  }

  package var action = Action.store
  package var conflict: Conflict
  /// Columns that have a change of their own; all others are replaced.
  package var changes: [String: Change]
  /// SQL that must hold for a row to be changed, in the same scope.
  package var condition: String?
  /// What SQL of a user calls the table, where that is not its name yet.
  package var tableName: String?
  /// Whether records give values to a column that is GENERATED ALWAYS AS IDENTITY.
  package var overridesIdentity = false

  package init(_ conflict: Conflict = .update, changes: [String: Change] = [:], condition: String? = nil) {
    self.conflict = conflict
    self.changes = changes
    self.condition = condition
  }
}
