import CPostgres
import UpsurgeRecords

/// One connection to a server; belongs to one thread.
///
///     run(sql)                      several statements at once, their results in order
///     run(sql, parameters)          one statement with values beside it
///     beginCopy, put, endCopy       rows into a table: see PostgresConnection+Copy
///     copyOut                       rows of a table or a SELECT
///
/// Each call has read all answers when it returns or throws, so that the next one can follow. While a call waits, it looks at
/// `cancellation`: the server is told to end the statement then, and `interrupted` is thrown.
package final class PostgresConnection {
  package let target: PostgresTarget
  package let notices = NoticeLog()
  let handle: OpaquePointer
  /// What ends its waits.
  package var cancellation: ReadCancellation?
  /// When the server was told to end the statement that runs.
  private var cancelledAt: Double?
  /// The request to end the statement that runs, until it is known to be sent.
  private var ending: CancelRequest?
  /// Whether the answer to a cancellation did not come, so that nothing can follow.
  private var isGivenUp = false

  /// Seconds for the server to end a statement.
  private static let patience = 10.0

  /// Connects.
  /// - Parameters:
  ///   - cancellation: ends waits; nil for what must not be interrupted.
  ///   - applicationName: what `pg_stat_activity` shows where the URL and PGAPPNAME say nothing.
  /// - Throws: `unreachable`, `refused`, `notInstalled`, `badTarget`, `interrupted`.
  package init(
    to target: PostgresTarget, cancellation: ReadCancellation? = nil, applicationName: String = "upsurge"
  ) throws(PostgresFailure) {
    self.target = target
    self.cancellation = cancellation
    let attempt = ConnectionAttempt(
      target: target, cancellation: cancellation, applicationName: applicationName)
    handle = try attempt.connect()
    upsurge_pq_set_notice_receiver(
      handle,
      { context, result in
        guard let context, let result else { return }
        Unmanaged<NoticeLog>.fromOpaque(context).takeUnretainedValue().take(result)
      }, Unmanaged.passUnretained(notices).toOpaque())
    _ = upsurge_pq_set_nonblocking(handle)
  }

  deinit { upsurge_pq_finish(handle) }

  /// Whether the socket was open when it was last used.
  package var isOpen: Bool { !isGivenUp && upsurge_pq_status(handle) == CONNECTION_OK }

  /// Whether a transaction is open, or has failed and waits for its ROLLBACK.
  package var isInTransaction: Bool {
    let status = upsurge_pq_transaction_status(handle)
    return status == PQTRANS_INTRANS || status == PQTRANS_INERROR
  }

  /// The process of the server; through a pooler not always the one that answers.
  package var backend: Int32 { upsurge_pq_backend(handle) }

  /// As the server's protocol says it, 150020 for 15.20: what other programs say there is no promise.
  package var versionNumber: Int { Int(upsurge_pq_server_version(handle)) }

  /// The host, or the folder of the socket.
  package var host: String { upsurge_pq_host(handle).map { String(cString: $0) } ?? "" }

  package var database: String { upsurge_pq_database(handle).map { String(cString: $0) } ?? "" }

  /// A setting that the server reports by itself: `server_encoding`, `is_superuser`.
  package func parameter(_ name: String) -> String? {
    upsurge_pq_parameter(handle, name).map { String(cString: $0) }
  }

  // MARK: - Statements

  /// Runs statements without parameters, all of one message; they are one transaction unless they say BEGIN.
  /// - Returns: a result for each.
  @discardableResult
  package func run(_ sql: String) throws(PostgresFailure) -> [PostgresResult] {
    try begin(upsurge_pq_send(handle, sql))
    return try results()
  }

  /// Runs one statement. Nothing is prepared, so poolers take it.
  /// - Parameter wantsBinary: whether all columns come in their binary form.
  @discardableResult
  package func run(
    _ sql: String, _ parameters: [PostgresParameter], wantsBinary: Bool = false
  ) throws(PostgresFailure) -> PostgresResult {
    let types = parameters.map(\.type)
    let sent = PostgresParameter.withC(parameters) { values, lengths, formats in
      upsurge_pq_send_params(
        handle, sql, Int32(parameters.count), types, values, lengths, formats, wantsBinary ? 1 : 0)
    }
    try begin(sent)
    guard let result = try results().last else {
      throw PostgresFailure(.other, "the server has answered nothing")
    }
    return result
  }

  /// Prepares a statement, which `runPrepared` runs until another one is prepared or run. It has no name, so that nothing of it is
  /// left in the session of a pooler.
  package func prepare(_ sql: String) throws(PostgresFailure) {
    try begin(upsurge_pq_send_prepare(handle, sql))
    _ = try results()
  }

  /// Runs the statement that was prepared last.
  /// - Parameter parameters: as many as it has, each in its type's own text.
  package func runPrepared(_ parameters: [PostgresParameter]) throws(PostgresFailure) {
    let sent = PostgresParameter.withC(parameters) { values, lengths, formats in
      upsurge_pq_send_prepared(handle, Int32(parameters.count), values, lengths, formats, 0)
    }
    try begin(sent)
    _ = try results()
  }

  /// Whether the transaction was committed; one that had failed before ends with ROLLBACK, without an error.
  /// - Throws: `outcomeUnknown` where the connection breaks, besides what deferred constraints say.
  package func commit() throws(PostgresFailure) -> Bool {
    do {
      return try run("COMMIT").last?.command == "COMMIT"
    } catch {
      throw error.duringCommit
    }
  }

  /// Ends a transaction, where one is open; a connection that is broken has none.
  package func rollback() {
    if isOpen, isInTransaction { _ = try? run("ROLLBACK") }
  }

  // MARK: - For copies

  /// Notes that a statement was sent, or says why not.
  func begin(_ sent: Int32) throws(PostgresFailure) {
    cancelledAt = nil
    if sent != 1 { throw lost() }
    try flush()
  }

  /// Sends what waits in libpq's buffer. A server that has closed the socket may have said why: that is read with the results.
  func flush() throws(PostgresFailure) {
    while upsurge_pq_flush(handle) == 1 {
      if try wait(writes: true) { _ = upsurge_pq_consume(handle) }
    }
  }

  /// The next result as soon as it is there; nil after the last one.
  func next() throws(PostgresFailure) -> OpaquePointer? {
    while upsurge_pq_is_busy(handle) == 1 {
      _ = try wait()
      if upsurge_pq_consume(handle) == 0 { break }
    }
    let result = upsurge_pq_result(handle)
    if result == nil { awaitEnding() }
    return result
  }

  /// All results that are left.
  /// - Throws: the first failure among them, after the last one.
  func results() throws(PostgresFailure) -> [PostgresResult] {
    var results: [PostgresResult] = []
    var failure: PostgresFailure?
    while let result = try next() {
      switch upsurge_pq_result_status(result) {
      case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE:
        failure = failure ?? self.failure(of: result)
        upsurge_pq_clear(result)
        if upsurge_pq_status(handle) == CONNECTION_BAD { throw failure! }
      case PGRES_COPY_IN:
        upsurge_pq_clear(result)
        _ = upsurge_pq_end_copy(handle, "no rows")
        try flush()
      case PGRES_COPY_OUT, PGRES_COPY_BOTH:
        upsurge_pq_clear(result)
        _ = try readCopy { _ in true }
      default: results.append(PostgresResult(result))
      }
    }
    if let failure { throw failure }
    return results
  }

  func failure(of result: OpaquePointer) -> PostgresFailure {
    var failure = PostgresFailure(result)
    failure.message = target.masked(failure.message)
    if failure.sqlState == "57014", cancelledAt != nil {
      return PostgresFailure(.interrupted, "interrupted", sqlState: failure.sqlState)
    }
    if upsurge_pq_status(handle) == CONNECTION_BAD, failure.sqlState.isEmpty {
      failure.kind = .connectionLost
    }
    return failure
  }

  /// What libpq says of a connection that has broken.
  func lost() -> PostgresFailure {
    let words = PostgresFailure.line(of: String(cString: upsurge_pq_error_message(handle)))
    return PostgresFailure(
      isOpen ? .other : .connectionLost, words.isEmpty ? "the connection was given up" : target.masked(words))
  }

  /// Waits until there is something to read (true), or room to write.
  @discardableResult
  func wait(writes: Bool = false) throws(PostgresFailure) -> Bool {
    let wait = SocketWait(descriptor: upsurge_pq_socket(handle), writes: writes)
    while true {
      let outcome = wait(
        cancelledAt == nil ? cancellation : nil, until: cancelledAt.map { $0 + Self.patience })
      switch outcome {
      case .ready(let isReadable): return isReadable
      case .cancelled:
        cancelledAt = SocketWait.now
        endRunningStatement()
      case .timedOut:
        isGivenUp = true
        throw PostgresFailure(.interrupted, "interrupted; the server did not end the statement")
      case .failed: throw lost()
      }
    }
  }

  /// Asks the server to end the statement that runs. It uses a separate connection, which may take its time.
  func endRunningStatement() {
    guard ending == nil, let cancel = upsurge_pq_cancel_of(handle) else { return }
    let request = CancelRequest(cancel)
    if (try? WorkerThread({ request.send() })) != nil { ending = request }
  }

  /// Waits until a request to end a statement is sent, so that it does not end the next one instead.
  private func awaitEnding() {
    guard let request = ending else { return }
    ending = nil
    if !request.wait(seconds: Self.patience) { isGivenUp = true }
  }
}
