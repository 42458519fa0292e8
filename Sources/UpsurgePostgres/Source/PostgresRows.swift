import UpsurgeInput
import UpsurgeRecords

/// Rows of PostgreSQL as a source of any load: `postgres://host/db#table`, `postgres://host/db?query=SELECT …`.
package struct PostgresRows: RowServer {
  package init() {}

  /// Lets sources of this program be of PostgreSQL. The server's library is loaded when one is opened.
  package static func register() { RowServers.register(["postgres", "postgresql"], PostgresRows()) }

  package func connect(
    to source: ServerSource, cancellation: ReadCancellation
  ) throws(UpsurgeError) -> any RowSnapshot {
    guard let target = PostgresTarget(source.url) else {
      throw UpsurgeError(.usage, "\(SourceName.redactedURL(source.url)) is not the URL of a PostgreSQL")
    }
    do {
      return try PostgresSnapshot(PostgresConnection(to: target, cancellation: cancellation))
    } catch {
      throw error.asSourceError(on: target)
    }
  }
}

extension PostgresFailure {
  /// The failure of a source: never one of the database that is written, which may be tried again.
  /// - Parameters:
  ///   - isReading: whether rows were read; before that, an error is one of the query.
  ///   - query: what was asked for, where it is no table.
  func asSourceError(on target: PostgresTarget, isReading: Bool = false, query: String? = nil) -> UpsurgeError
  {
    if kind == .readOnly, !sqlState.isEmpty {
      // The query writes: a standby takes the transaction, which is read-only.
      var failure = self
      failure.kind = .other
      return failure.asSourceError(on: target, isReading: isReading, query: query)
    }
    let own = asError(on: target)
    let code: UpsurgeError.Code =
      switch kind {
      case .retryTransaction, .timedOut, .unreachable, .connectionLost, .outcomeUnknown, .resources, .breaksAgain,
        .readOnly, .commitsLost:
        .databaseBusy
      case .refused, .notInstalled, .privilege: .unreadableInput
      case .interrupted, .takenOver: .interrupted
      case .badTarget, .noTransactions: .usage
      case .record, .schemaChanged, .foreignTable, .other: isReading ? .badInput : query == nil ? .unreadableInput : .usage
      }
    var words = target.masked(message)
    switch kind {
    case .unreachable, .refused, .notInstalled, .badTarget: words = "cannot connect: " + words
    case .connectionLost, .outcomeUnknown: words = "the connection has broken: " + words
    default: break
    }
    if let detail { words += ": " + target.masked(detail) }
    if !sqlState.isEmpty { words += " [\(sqlState)]" }
    let snippet = code == .usage ? query?.escapedForTerminal : nil
    return UpsurgeError(code, Wording(words), snippet: snippet, hint: own.remedy)
  }
}
