import Upsurge
import UpsurgeRecords

extension PostgresTable {
  /// - Parameter isKeyed: whether a key is named for the records.
  /// - Throws: `usage` for what no record can be stored in, or not in one transaction.
  func checkTakesRecords(byKey isKeyed: Bool) throws(UpsurgeError) {
    let shown = TableName(schema: schema, name: name).shown.escapedForTerminal
    switch kind {
    case .materializedView:
      throw UpsurgeError(
        .usage, "\(shown) is a materialized view, which only REFRESH fills",
        hint: "load the tables that it is made of")
    case .view where !triggers.contains(where: \.isInsteadOf):
      throw UpsurgeError(
        .usage, "\(shown) is a view without INSTEAD OF triggers; what is stored through it cannot be counted",
        hint: "load the table that it shows")
    case .foreign:
      if isKeyed {
        throw UpsurgeError(
          .usage, "\(shown) is a table of another server, which has no key here",
          hint: "load the table on its own server")
      }
    default: break
    }
    if hasForeignPartitions, isKeyed || primaryKey != nil {
      throw UpsurgeError(
        .usage, "\(shown) has partitions on other servers, whose commits are not one, and no key over them",
        hint: "load each partition on its own server")
    }
  }
}
