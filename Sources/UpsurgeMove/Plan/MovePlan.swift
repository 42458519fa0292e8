import UpsurgeRecords

/// A move as a value: what is made, read, compared, and added at the end. All SQL stands in it; nothing was written to make it.
package struct MovePlan: Sendable, Equatable {
  /// Which way.
  package enum Direction: Sendable, Equatable { case toServer, toFile }

  package var direction: Direction
  /// Parents before children, as far as there are no circles.
  package var tables: [PlannedTable] = []
  /// What comes after the rows, in its order.
  package var finishing: [MoveStep] = []
  package var leftOut: [LeftOut] = []
  /// What else must be before the tables: a schema.
  package var preparation: [String] = []
  /// What decides that another run goes on with this move: source, tables and steps.
  package var identity: UInt64 = 0
}

/// A table of a move.
package struct PlannedTable: Sendable, Equatable {
  package var name: String
  package var columns: [PlannedColumn] = []
  /// The statement that makes it, without what comes after the rows.
  package var creation = ""
  /// The rows as they are stored, as a SELECT.
  var reading = ""
  /// What is compared: as a SELECT on either side, whose lines must be the same.
  var comparedSource = ""
  var comparedTarget = ""
  /// Whether rows come in the same order each time, so that those which are stored already can be passed over.
  var isOrdered = false
  /// Rows that there are; nil where they were not counted.
  package var rowCount: UInt64?
  /// The column whose rows are numbered, where the numbering moves.
  var numbered: String?

  init(name: String) { self.name = name }
}

/// A column of a move.
package struct PlannedColumn: Sendable, Equatable {
  package var name: String
  /// As the source declares it; empty where it does not.
  package var sourceType: String
  package var targetType: String
  /// Type and constraints, as CREATE TABLE takes them.
  var definition = ""
  var kind: ColumnKind
  /// Whether the target computes it.
  package var isGenerated = false
}

/// Something that is made after the rows, in a transaction of its own.
package struct MoveStep: Sendable, Equatable {
  /// Where its statement comes from.
  enum Work: Sendable, Equatable {
    case statement(String)
    /// Numbers new rows after the last one: what was the last is read then.
    case numbering(table: String, column: String)
  }

  /// For people: `index by_name of orders`.
  package var title: String
  var work: Work
  /// Whether the move goes on without it, and says so.
  var isOptional = false

  /// The statement, as far as it is known before the rows are there.
  package var sql: String? { if case .statement(let sql) = work { sql } else { nil } }
}
