import Upsurge
import UpsurgeRecords

extension LoadOptions.Output {
  /// - Parameters:
  ///   - table: what the run stores into; nil where it makes that.
  ///   - found: as the catalogue has it.
  /// - Throws: `usage` where changes are asked for, and rows of the table cannot be told one by one.
  func checkTelling(_ table: TargetTable?, _ found: PostgresTable?, _ capabilities: Capabilities)
    throws(UpsurgeError)
  {
    if changesOutput == nil { return }
    guard let reason = Self.objection(toTelling: table, found, capabilities) else { return }
    let option = changesOption
    throw UpsurgeError(
      .usage, "\(saying: option) cannot tell the rows: \(reason)", hint: "leave out \(saying: option)")
  }

  private static func objection(
    toTelling table: TargetTable?, _ found: PostgresTable?, _ capabilities: Capabilities
  ) -> Wording? {
    if capabilities.family != .postgreSQL { return "that is not done on \(capabilities.family.name) yet" }
    if !capabilities.hasTemporaryTables {
      return "the user may make no temporary table, which holds the records beside them"
    }
    if capabilities.encoding != "UTF8" {
      return "the database is in \(capabilities.encoding.escapedForTerminal), and not in UTF-8"
    }
    guard let table, let found else { return nil }
    let name = found.name.escapedForTerminal
    guard found.kind == .table || found.kind == .partitioned, !found.hasForeignPartitions else {
      return "\(name) is not a table of this server"
    }
    if found.columns.count > columnLimit { return "table \(name) has more than \(columnLimit) columns" }
    if !found.rights.selects { return "the user may not read all columns of table \(name)" }
    if table.key.isNone, found.hasRowTriggers {
      return
        "table \(name) has triggers for each row, and without a key nobody knows which record a row is of"
    }
    return nil
  }

  /// A table has 1,600 columns at most, and a staging table has some of its own.
  private static let columnLimit = 1_590
}
