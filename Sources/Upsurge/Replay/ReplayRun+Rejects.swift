/// Rejected records: those of the table `upsurge_rejects`, and those of a file.
extension ReplayRun {
  /// Tries the records of the table again. A record leaves it in the transaction that stores it.
  mutating func replayRejects(
    on connection: Connection, keeper: ReplayKeeper
  ) throws(UpsurgeError) {
    guard try RejectTable.exists(connection) else { return }
    // What is rejected from now on is for the next replay.
    let lastID = try StoredReject.lastID(connection)
    var after: Int64 = 0
    while control.cancellationSignal == nil,
      let last = try replayRejects(
        after: after, through: lastID, count: job.options.pageRecordLimit, on: connection, keeper: keeper)
    {
      after = last
    }
    try connection.beginWriting()
    do throws(UpsurgeError) {
      try StoredReject.deleteUnusedContexts(connection)
      try connection.execute("COMMIT")
    } catch {
      if !connection.isInAutocommit { try? connection.execute("ROLLBACK") }
      throw error
    }
  }

  /// Tries the next page.
  /// - Returns: the id of its last record; nil without one.
  private mutating func replayRejects(
    after: Int64, through: Int64, count: Int, on connection: Connection, keeper: ReplayKeeper
  ) throws(UpsurgeError) -> Int64? {
    try connection.beginWriting()
    var stored: [StoredReject] = []
    do throws(UpsurgeError) {
      stored = try StoredReject.page(
        connection, after: after, through: through, count: count,
        recordByteLimit: job.options.recordByteLimit
      ).ofOneInput
      guard let last = stored.last else {
        try connection.execute("ROLLBACK")
        return nil
      }
      take(try tried(stored, on: connection, keeper: keeper))
      return last.id
    } catch {
      if !connection.isInAutocommit { try? connection.execute("ROLLBACK") }
      guard error.code == .badInput, let last = stored.last else { throw error }
      // The page cannot be committed: foreign keys are open, or a trigger rolled it back. One record is to blame.
      if stored.count == 1 {
        let reject = stored[0].reject.again(Reject.Code(rawValue: "transaction"), error.message)
        take(RejectPage([stored[0].reject], table: stored[0].table, because: .rejected(reject)))
      } else {
        for record in stored {
          _ = try replayRejects(
            after: record.id - 1, through: record.id, count: 1, on: connection, keeper: keeper)
        }
      }
      return last.id
    }
  }

  /// Tries a page in the transaction that is open, which is committed or rolled back then.
  private func tried(
    _ stored: [StoredReject], on connection: Connection, keeper: ReplayKeeper
  ) throws(UpsurgeError) -> RejectPage {
    let records = stored.map(\.reject)
    if let byteCount = stored[0].omittedByteCount {
      try connection.execute("ROLLBACK")
      return RejectPage(
        records, table: stored[0].table, because: .untried(.tooLarge, job.options.tooLarge(byteCount).text))
    }
    var context: RejectContext
    do throws(UpsurgeError) {
      context = try RejectContext(JSONValue(stored[0].context ?? ""))
    } catch {
      try connection.execute("ROLLBACK")
      let what = stored[0].context == nil ? "is gone" : "cannot be understood: \(error.message)"
      return RejectPage(
        records, table: stored[0].table,
        because: .untried(
          RejectPage.unreadable, "row \(stored[0].contextID) of upsurge_reject_contexts \(what)"))
    }
    // A person may have sent the records elsewhere.
    context.table = stored[0].table
    var page = RejectPage(records, context: context, options: job.options)
    try page.store(on: connection) { (page) throws(UpsurgeError) in
      var hasChanged = false
      for (record, fate) in zip(stored, page.fates) {
        switch fate {
        case .gone: try StoredReject.delete(record.id, connection)
        case .rejected(let reject) where reject.reason != record.reason || reject.code != record.code:
          try StoredReject.update(record.id, to: reject, connection)
        case .rejected, .untried: continue
        }
        hasChanged = true
      }
      if hasChanged { try keeper.willCommit(page.ledger, page.warnings, to: page.table) }
      return hasChanged
    }
    keeper.didCommit(page.ledger, page.warnings, to: page.table)
    return page
  }

  /// Tries the records of a file again.
  mutating func replay(file: String, on connection: Connection) throws(UpsurgeError) {
    var replay = try FileReplay(file, connection: connection, run: self)
    do throws(UpsurgeError) {
      try replay.replayAll()
    } catch {
      replay.leave()
      self = replay.run
      throw error
    }
    self = replay.run
    ending = { () throws(UpsurgeError) in try replay.acknowledge() }
  }
}

extension StoredReject {
  /// What is tried again.
  var reject: Reject {
    var reject = Reject(
      code, at: position, column: column, reason: reason, raw: UnsafeBufferPointer(start: nil, count: 0))
    reject.raw = raw
    reject.isRawCut = isRawCut
    return reject
  }
}

extension [StoredReject] {
  /// The first records, as long as they come from one input and each stands in a place of its own.
  fileprivate var ofOneInput: [StoredReject] {
    var places: Set<Position> = []
    return Array(
      prefix { $0.position.file == self[0].position.file && places.insert($0.position.counted).inserted })
  }
}
