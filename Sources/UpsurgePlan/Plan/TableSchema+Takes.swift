import UpsurgeRecords
import UpsurgeSQLite

extension TableSchema {
  /// Makes sure that rows for the columns that were can go into the table as it is: they are all there, and the same.
  /// - Throws: `database` where they are not.
  package func checkTakesRows(of old: TableSchema) throws(UpsurgeError) {
    let indexes = namingRowid(as: old).columnIndexes
    let columns = namingRowid(as: old).columns
    let isSame =
      kind == old.kind && isStrict == old.isStrict && isWithoutRowid == old.isWithoutRowid
      && old.columns.allSatisfy { column in
        indexes[SQLName.folded(column.name)].map { columns[$0] == column } ?? false
      }
    if !isSame { throw old.columnsHaveChanged }
  }

  /// The error for records of columns that the table no longer has as they were.
  package var columnsHaveChanged: UpsurgeError {
    UpsurgeError(
      .database,
      "another program has changed the columns of table \(name.escapedForTerminal) since records were read for it",
      hint: "run it again: records are read for the table as it is then, after the last commit")
  }
}
