/// Rejected records: those of the table `upsurge_rejects`, and those of a file.
extension ReplayRun {
  /// Tries the records of a table again. A record leaves it in the transaction that stores it.
  mutating func replayRejects(
    of shelf: RejectShelf, on store: any ReplayStore, keeper: ReplayKeeper
  ) throws(UpsurgeError) {
    var after: Int64 = 0
    while control.cancellationSignal == nil,
      let last = try replayRejects(
        of: shelf, after: after, through: shelf.lastID, count: job.options.pageRecordLimit, on: store,
        keeper: keeper)
    {
      after = last
    }
    try store.deleteUnusedContexts(of: shelf)
  }

  /// Tries the next page.
  /// - Returns: the id of its last record; nil without one.
  private mutating func replayRejects(
    of shelf: RejectShelf, after: Int64, through: Int64, count: Int, on store: any ReplayStore,
    keeper: ReplayKeeper
  ) throws(UpsurgeError) -> Int64? {
    var stored: [StoredReject] = []
    do throws(UpsurgeError) {
      let page = try store.transaction { (transaction) throws(UpsurgeError) -> RejectPage? in
        stored = try transaction.rejects(
          of: shelf, after: after, through: through, count: count,
          recordByteLimit: job.options.recordByteLimit
        ).ofOneInput
        if stored.isEmpty {
          try transaction.rollback()
          return nil
        }
        return try tried(stored, of: shelf, in: transaction, keeper: keeper)
      }
      guard let page, let last = stored.last else { return nil }
      keeper.didCommit(page.ledger, page.warnings, to: page.table)
      take(page)
      return last.id
    } catch {
      guard error.code == .badInput, let last = stored.last else { throw error }
      // The page cannot be committed: foreign keys are open, or a trigger rolled it back. One record is to blame.
      if stored.count == 1 {
        let reject = stored[0].reject.again(Reject.Code(rawValue: "transaction"), error.message)
        take(RejectPage([stored[0].reject], table: stored[0].table, because: .rejected(reject)))
      } else {
        for record in stored {
          _ = try replayRejects(
            of: shelf, after: record.id - 1, through: record.id, count: 1, on: store, keeper: keeper)
        }
      }
      return last.id
    }
  }

  /// Tries a page in the transaction that is open, which is committed or rolled back then.
  private func tried(
    _ stored: [StoredReject], of shelf: RejectShelf, in transaction: any ReplayTransaction,
    keeper: ReplayKeeper
  ) throws(UpsurgeError) -> RejectPage {
    let records = stored.map(\.reject)
    if let byteCount = stored[0].omittedByteCount {
      try transaction.rollback()
      return RejectPage(
        records, table: stored[0].table, because: .untried(.tooLarge, job.options.tooLarge(byteCount).text))
    }
    var context: RejectContext
    do throws(UpsurgeError) {
      context = try RejectContext(JSONValue(stored[0].context ?? ""))
    } catch {
      try transaction.rollback()
      let what = stored[0].context == nil ? "is gone" : "cannot be understood: \(error.message)"
      return RejectPage(
        records, table: stored[0].table,
        because: .untried(
          RejectPage.unreadable, "row \(stored[0].contextID) of upsurge_reject_contexts \(what)"))
    }
    // A person may have sent the records elsewhere.
    context.table = stored[0].table
    var page = RejectPage(records, context: context, schema: shelf.schema, options: job.options)
    try transaction.store(&page) { (page) throws(UpsurgeError) in
      var hasChanged = false
      for (record, fate) in zip(stored, page.fates) {
        switch fate {
        case .gone: try transaction.delete(record.id, of: shelf)
        case .rejected(let reject) where reject.reason != record.reason || reject.code != record.code:
          try transaction.update(record.id, to: reject, of: shelf)
        case .rejected, .untried: continue
        }
        hasChanged = true
      }
      if hasChanged {
        try keeper.willCommit(page.ledger, page.warnings, to: page.table, in: transaction)
      }
      return hasChanged
    }
    return page
  }

  /// Tries the records of a file again.
  mutating func replay(file: String, on store: any ReplayStore) throws(UpsurgeError) {
    var replay = try FileReplay(file, store: store, run: self)
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
