import CPostgres

/// Rows to and from the server by COPY.
///
///     beginCopy("BEGIN; CREATE TEMP TABLE s …; COPY s FROM STDIN (FORMAT binary)")
///     put, put, …          bytes, cut anywhere
///     endCopy              or failCopy
extension PostgresConnection {
  /// libpq's buffer grows to what it is given at once.
  private static let pieceByteCount = 256 << 10

  /// Runs statements of which the last one is a `COPY … FROM STDIN`.
  /// - Returns: the results of those before it.
  package func beginCopy(_ sql: String) throws(PostgresFailure) -> [PostgresResult] {
    try begin(upsurge_pq_send(handle, sql))
    var results: [PostgresResult] = []
    while let result = try next() {
      switch upsurge_pq_result_status(result) {
      case PGRES_COPY_IN:
        upsurge_pq_clear(result)
        return results
      case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE:
        let failure = failure(of: result)
        upsurge_pq_clear(result)
        _ = try self.results()
        throw failure
      default: results.append(PostgresResult(result))
      }
    }
    preconditionFailure("the last statement must be a COPY FROM STDIN")
  }

  /// Sends bytes of the rows. An error of the server is only told by `endCopy`: it reads on until then, and throws away.
  package func put(_ bytes: UnsafeRawBufferPointer) throws(PostgresFailure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.pieceByteCount))
      let sent = upsurge_pq_put_copy(handle, piece.baseAddress, Int32(piece.count))
      if sent < 0 { throw lost() }
      if sent == 1 { rest = rest.dropFirst(piece.count) }
      try flush()
    }
  }

  /// Ends the rows, and reads what the server says of them and of the later statements.
  package func endCopy() throws(PostgresFailure) -> [PostgresResult] {
    try endCopy(reason: nil)
    return try results()
  }

  /// Ends them so that none is stored; the transaction has failed then. Must follow an error between `beginCopy` and `endCopy`,
  /// or a pooler waits for ever.
  package func failCopy(_ reason: String) {
    do {
      try endCopy(reason: reason)
      _ = try results()
    } catch {
      // That is what was asked for.
    }
  }

  private func endCopy(reason: String?) throws(PostgresFailure) {
    while true {
      let ended = upsurge_pq_end_copy(handle, reason)
      if ended < 0 { throw lost() }
      try flush()
      if ended == 1 { return }
    }
  }

  // MARK: - Out

  /// Runs statements of which the last one is a `COPY … TO STDOUT`, and gives each row as it comes.
  /// - Parameter body: false ends the copy. The bytes are valid while it is called.
  /// - Returns: whether all rows were given.
  @discardableResult
  package func copyOut(
    _ sql: String, _ body: (UnsafeRawBufferPointer) throws(PostgresFailure) -> Bool
  ) throws(PostgresFailure) -> Bool {
    try begin(upsurge_pq_send(handle, sql))
    while let result = try next() {
      let status = upsurge_pq_result_status(result)
      if status == PGRES_COPY_OUT {
        upsurge_pq_clear(result)
        let isWhole = try readCopy(body)
        do {
          _ = try results()
        } catch {
          // We ended it ourselves.
          if isWhole || error.sqlState != "57014" { throw error }
        }
        return isWhole
      }
      if status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE {
        let failure = failure(of: result)
        upsurge_pq_clear(result)
        _ = try results()
        throw failure
      }
      upsurge_pq_clear(result)
    }
    preconditionFailure("the last statement must be a COPY TO STDOUT")
  }

  /// Gives the rows of a copy that has begun, and reads it to its end whatever `body` says.
  func readCopy(_ body: (UnsafeRawBufferPointer) throws(PostgresFailure) -> Bool) throws(PostgresFailure) -> Bool {
    var goesOn = true
    var failure: PostgresFailure?
    while true {
      var row: UnsafeMutablePointer<CChar>?
      let byteCount = upsurge_pq_get_copy(handle, &row)
      // An error is the next result.
      if byteCount < 0 { break }
      if byteCount == 0 {
        try wait()
        if upsurge_pq_consume(handle) == 0 { throw lost() }
        continue
      }
      defer { upsurge_pq_free(row) }
      if !goesOn { continue }
      do {
        goesOn = try body(UnsafeRawBufferPointer(start: row, count: Int(byteCount)))
      } catch {
        (goesOn, failure) = (false, error)
      }
      if !goesOn { endRunningStatement() }
    }
    if let failure {
      _ = try? results()
      throw failure
    }
    return goesOn
  }
}
