import Upsurge
import UpsurgeRecords

/// What a job says that no run could do, whatever the schema is.
extension SchemaCheck {
  /// What is wrong with SQL of the job; nil where a run would take it.
  /// - Parameters:
  ///   - fields: those of the feed; nil where nobody knows them.
  ///   - scope: nil where the database is asked about it.
  func sqlFault(fields: [String]?, scope: String?) -> UpsurgeError? {
    // A server refuses SQL over fields, and has its own for rows.
    if job.isOnServer { return nil }
    do throws(UpsurgeError) {
      try table.options.checkRecordSQL(fields: fields)
      try table.options.checkRowSQL(scope: scope)
      return nil
    } catch {
      return error
    }
  }

  /// Fields and columns that the job names and the feed does not have, and SQL that cannot be compiled.
  /// - Parameter hasTable: whether the table is there, so that the database is asked about the scope.
  func wordWarnings(hasTable: Bool) -> [SchemaWarning] {
    var warnings: [SchemaWarning] = []
    // Fields that may go are no longer there.
    let fields = table.columnsGone == .refuse ? header : nil
    if let fields, let source = table.sources.first {
      do throws(UpsurgeError) {
        try table.options.checkNames(against: fields, file: source.shown)
      } catch {
        warnings.append(warning(.unknownField, error))
      }
    }
    if let fault = sqlFault(fields: fields, scope: hasTable ? nil : table.scope) {
      warnings.append(warning(.badSQL, fault))
    }
    return warnings
  }

  private func warning(_ code: SchemaWarning.Code, _ error: UpsurgeError) -> SchemaWarning {
    let error = error.ofJob
    return SchemaWarning(
      table: table.name, code: code, message: error.message, fix: error.hint ?? error.message)
  }
}
