import Upsurge

extension OptionCatalogue {
  /// What only `upsurge move` takes.
  static let move: [OptionSpecification] = [
    OptionSpecification(
      .table, of: .move, .list(String.self), named: "TABLE", help: "Move only this table."
    ),
    OptionSpecification(
      .except, of: .move, .list(String.self), named: "TABLE",
      help: "Leave this table out."),
    OptionSpecification(
      .type, of: .move, .list(String.self), named: "TABLE.COLUMN:TYPE",
      help: "The type of a column in the new database, as in orders.note:text."),
    OptionSpecification(
      .schema, of: .move, named: "SCHEMA",
      help: "The schema of PostgreSQL that is moved, or moved into. It is made if it is missing."),
    OptionSpecification(
      .dryRun, of: .move, .flag,
      help: "Look at all rows, print what would be moved and what not, and write nothing."),
    OptionSpecification(
      .explain, of: .move, .flag, help: "As --dry-run, and print the SQL of each step."),
    OptionSpecification(
      .memory, of: .move, .value(ByteSize.self), help: "Bound of the memory. A row may have a quarter of it."),
    OptionSpecification(
      .busyTimeout, of: .move, .value(LockTime.self), named: "MS", help: "Milliseconds to wait for a lock, or 5s, 2min."),
  ]
}
