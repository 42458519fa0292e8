extension PreparedSource {
  /// Opens rows of a server's database, as records that keep their types: a thread reads them in one state of the database and
  /// writes them as NDJSON into a pipe.
  /// - Parameters:
  ///   - source: which it is.
  ///   - shown: the same as messages show it, with its name as it may be stored.
  /// - Throws: what `RowServer` throws, and `usage` for options that fit no rows.
  static func prepare(
    _ source: ServerSource, shown: Source, options: LoadOptions, counter: ByteCounter,
    cancellation: ReadCancellation?
  ) throws(UpsurgeError) -> PreparedSource {
    let mask = options.environment.question.mask
    let name = shown.hidden(by: mask).name
    try checkFormat(options, of: name)
    let reading = ServerReading(source, name: name, mask: mask, options: options, following: cancellation)
    let head = try reading.open()
    let feed = try ProducedFeed(
      name: name, interrupt: { reading.end() },
      produce: { output throws(UpsurgeError) in
        try reading.write { output.write($0) && !output.isStopped }
      })
    let columns = head.columns.map { column in
      InferredColumn(
        name: column.name, type: columnType(column.declaredType), examples: [], nullCount: 0,
        declaredType: column.declaredType, sourceType: column.sourceType.map { .server($0) })
    }
    var prepared = try rows(
      of: feed, columns, name: name, options: options, counter: counter, cancellation: cancellation)
    prepared.rowRemarks = head.remarks
    return prepared
  }
}

/// Takes a snapshot from the thread that has opened it to the one that reads, and gives it back.
private final class ServerReading: @unchecked Sendable {
  // Sendable because the thread that has opened it only starts the one that uses it, and `isAtWork` is only touched while `monitor`
  // is locked.

  private let source: ServerSource
  private let name: String
  private let mask: SecretMask
  private let snapshots: DatabaseSnapshots?
  private let cancellation: ReadCancellation
  private var snapshot: (any RowSnapshot)?
  private var isShared = false
  private let monitor = Monitor()
  private var isAtWork = false

  /// So long the end waits until the server has ended the statement.
  private static let patienceMilliseconds = 5_000

  init(
    _ source: ServerSource, name: String, mask: SecretMask, options: LoadOptions,
    following cancellation: ReadCancellation?
  ) {
    (self.source, self.name, self.mask) = (source, name, mask)
    snapshots = options.environment.databaseSnapshots
    self.cancellation = ReadCancellation(following: cancellation)
  }

  deinit { giveBack() }

  func open() throws(UpsurgeError) -> RowHead {
    do throws(UpsurgeError) {
      let server = try RowServers.find(source)
      let shared = try snapshots?.take(source, from: server, cancellation)
      isShared = shared != nil
      let opened =
        if let shared { shared } else { try server.connect(to: source, cancellation: cancellation) }
      snapshot = opened
      return try opened.open(source.rows)
    } catch {
      throw named(error)
    }
  }

  /// Writes all rows, on a thread of its own.
  func write(to send: ([UInt8]) -> Bool) throws(UpsurgeError) {
    setAtWork(true)
    defer {
      giveBack()
      setAtWork(false)
    }
    do throws(UpsurgeError) {
      try snapshot?.write(to: send)
    } catch {
      throw named(error)
    }
  }

  /// Ends the reading, and waits a while until the server has.
  func end() {
    cancellation.request()
    let end = MonotonicClock.seconds + Double(Self.patienceMilliseconds) / 1_000
    monitor.lock()
    defer { monitor.unlock() }
    while isAtWork, MonotonicClock.seconds < end, monitor.wait(milliseconds: Self.patienceMilliseconds) {}
  }

  private func giveBack() {
    if let snapshot, isShared { snapshots?.giveBack(snapshot, source) }
    snapshot = nil
  }

  private func setAtWork(_ isAtWork: Bool) {
    monitor.lock()
    self.isAtWork = isAtWork
    monitor.notifyAll()
    monitor.unlock()
  }

  /// A failure of the source is not one of the database that is written.
  private func named(_ error: UpsurgeError) -> UpsurgeError {
    if error.code == .interrupted { return .interrupted(name) }
    var error = mask.masked(error)
    error.said = "reading \(name.escapedForTerminal): \(saying: error.said)"
    return error
  }
}
