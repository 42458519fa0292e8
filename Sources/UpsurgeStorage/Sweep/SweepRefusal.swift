import UpsurgeRecords

/// What speaks against a sweep while it is done; every store says it so.
extension UpsurgeError {
  /// Nothing is swept from a table.
  /// - Parameters:
  ///   - children: the tables whose rows refer to rows of this one.
  ///   - isOnServer: whether a server holds them, where one job does not mirror tables that refer to each other.
  ///   - error: what the store has said.
  package static func nothingSwept(
    from table: String, children: [String], because error: UpsurgeError?
  ) -> UpsurgeError {
    let names = children.joined(separator: ", ").escapedForTerminal
    let cause =
      children.isEmpty ? error?.message ?? "" : "rows of \(names) refer to rows that are not in the delivery"
    return UpsurgeError(
      .guardRefused, "nothing is swept from table \(table.escapedForTerminal): \(cause)",
      hint: children.isEmpty
        ? "look at the triggers and constraints of the table"
        : "delete or change those rows of \(names), or mirror that table in the same job, so that they go first; then run the "
          + "job again",
      underlyingCode: error?.underlyingCode)
  }

  /// A store keeps rows that it was told to remove; then it removes none.
  package static func rowsKept(in table: String, _ count: UInt64, of goneCount: UInt64) -> UpsurgeError {
    UpsurgeError(
      .guardRefused,
      "nothing is swept from table \(table.escapedForTerminal): a trigger or a policy keeps \(count) of the \(goneCount) rows that "
        + "are not in the delivery",
      hint: "let the trigger or policy remove those rows, or leave them out by a scope")
  }

  /// A feed writes only what belongs to it.
  package static func outside(scope: String) -> UpsurgeError {
    UpsurgeError(
      .guardRefused,
      "records of the delivery are about rows outside of the scope (\(scope.escapedForTerminal))",
      hint: "correct the scope, or leave such records out of the feed")
  }

  /// A sweep finds rows by a key.
  package static func sweepWithoutKey(of table: String) -> UpsurgeError {
    UpsurgeError(
      .usage, "a sweep needs a key, and table \(table.escapedForTerminal) has none in the input",
      hint:
        "\(saying: Wording("key: [COLS]", call: "on:")) names the columns that say which row a record is about"
    )
  }
}
