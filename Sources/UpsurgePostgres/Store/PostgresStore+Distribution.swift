import Upsurge
import UpsurgeRecords

/// Tables whose rows are on the workers of Citus.
extension PostgresStore {
  /// The column that says on which worker a row is; nil for a reference table, of which each worker has all rows.
  func distributionColumn(of table: PostgresTable) throws(UpsurgeError) -> String? {
    guard table.kind == .distributed else { return nil }
    return try session.asking { (connection) throws(PostgresFailure) in
      try connection.run(
        "SELECT column_to_column_name(logicalrelid, partkey) FROM pg_dist_partition WHERE logicalrelid = $1::oid::regclass",
        [.integer(Int64(table.oid))]
      ).first?.text(0)
    }
  }

  /// - Throws: `usage` for a key to be made that workers could not watch over, as it lacks the distribution column.
  func checkDistribution(_ table: TargetTable) throws(UpsurgeError) {
    guard let found = table.found, case .future(let names) = table.key,
      let column = try distributionColumn(of: found),
      !names.contains(column)
    else { return }
    throw UpsurgeError(
      .usage,
      "the rows of table \(table.name.shown.escapedForTerminal) are distributed by \(column.escapedForTerminal), and no worker knows "
        + "whether a key without that column is unique",
      hint: "\(.key, (names + [column]).joined(separator: ",")) has it")
  }
}
