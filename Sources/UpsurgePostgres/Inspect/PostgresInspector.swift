import Upsurge
import UpsurgeInput
import UpsurgeRecords

/// Looks at a database, all of it in one state.
struct PostgresInspector: ServerInspector {
  func describe(url: String, table: String?) throws(UpsurgeError) -> ServerDescription {
    guard let target = PostgresTarget(url) else {
      throw UpsurgeError(.usage, "\(SourceName.redactedURL(url)) is not the URL of a PostgreSQL")
    }
    let connection = try asked(target) { () throws(PostgresFailure) in
      let connection = try PostgresConnection(to: target)
      try connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL lock_timeout = 10000")
      return connection
    }
    let reader = CatalogReader(connection)
    guard let table else {
      return try asked(target) { () throws(PostgresFailure) in
        try reader.database(named: target.shown, only: nil)
      }
    }
    let found = try asked(target) { () throws(PostgresFailure) in try TableName.find(table, on: connection) }
    guard let found else {
      throw try asked(target) { () throws(PostgresFailure) in try TableName.missing(table, on: connection) }
    }
    return try asked(target) { () throws(PostgresFailure) in
      try reader.database(named: target.shown, only: found.oid)
    }
  }

  private func asked<Answer>(
    _ target: PostgresTarget, _ body: () throws(PostgresFailure) -> Answer
  ) throws(UpsurgeError) -> Answer {
    do throws(PostgresFailure) {
      return try body()
    } catch {
      var said = error.asSourceError(on: target)
      said.said = "looking at \(target.shown): \(saying: said.said)"
      throw said
    }
  }
}
