extension WriterSettings {
  /// How records are stored, as far as the options of the load, its table and its threads say it.
  init(_ options: LoadOptions, for table: PreparedTable, _ context: StoreContext) {
    self.init(memory: options.transaction.memory.byteCount, walLimit: options.transaction.walLimit.byteCount)
    sorting = options.tuning.sorting
    if sorting.byteCount == 0 { sorting.byteCount = options.sortByteCount }
    if options.transaction.keepsInputOrder { sorting.byteCount = 0 }
    sorting.isTableNew = table.facts.isNew
    sorting.holdsMemory = context.holdsMemory
    options.transaction.commitEvery.set(&self)
    onError = options.rejects.onError
    if case .count(let limit) = options.rejects.limit { maximumRejects = limit }
    maximumRejectsHint = options.rejectLimitHint
    defersForeignKeys = options.table.foreignKeys == .deferred
    if let rows = options.tuning.rowsPerStatement { statements.rowCount = max(rows, 1) }
    isDryRun = options.output.dryRun != nil
    delivery = options.delivery.rules
    seenMemory = context.seenMemory
    addsColumns = table.facts.isNew || table.facts.addsColumns
    quarantinesUnknown = table.facts.quarantinesUnknown
    connect(to: context)
  }

  /// What the writer asks the other threads of the run, and what it says to them.
  private mutating func connect(to context: StoreContext) {
    isCancelled = context.isCancelled
    log.checkpointing = { [checkpoint = context.interrupter] interrupter in
      checkpoint.withLock { $0 = interrupter }
    }
    deliveryHash = context.deliveryHash
    warn = { [note = context.note] said in
      var warning = RunNote(.warning, said)
      // The writer warns of several kinds of things.
      warning.kind += said.text.prefix(20)
      note(warning)
    }
  }
}

extension RunKeeper {
  /// Says where the run's files stand at each of its commits.
  /// - Parameters:
  ///   - rejects: where rejected records go; nil where they are only counted.
  ///   - place: the file of those, if it is one.
  ///   - files: the others.
  ///   - earlier: the part of the run that this one goes on from.
  func keep(
    _ rejects: (any RejectSink)?, at place: String?, _ files: [String: OutputFile], after earlier: RunRecord?
  ) {
    outputLengths = {
      let before = earlier?.position ?? RunPosition()
      let ofRejects = before.rejectsLengths(with: rejects?.length, in: place)
      return files.compactMapValues(\.length).merging(ofRejects) { own, _ in own }
    }
    keptRejectCount = { rejects?.recordCount ?? 0 }
  }
}
