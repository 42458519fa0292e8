#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reading slow sources to their end before a transaction begins that cannot be committed in between: other programs
/// could not write as long as such a source is waited for.
extension LoadRun {
  /// Opens a source, or takes it as it was read ahead.
  func prepare(_ source: Source) throws(UpsurgeError) -> PreparedSource {
    guard let file = try ahead.take(source, of: job.table, cancellation: readCancellation) else {
      return try PreparedSource.prepare(source, options: job.options, cancellation: readCancellation)
    }
    return try PreparedSource.prepare(file, of: source, options: job.options)
  }

  /// Reads ahead what may be slow, where it must not be waited for later.
  /// - Parameters:
  ///   - beginning: the first source, which is open.
  ///   - connection: to the database, where that is there.
  /// - Returns: the seconds that it took.
  /// - Throws: `interrupted`; `cannotCreate` where there is no room.
  func readAhead(
    _ beginning: Beginning, of sources: [Source], on connection: Connection?
  ) throws(UpsurgeError) -> Double {
    let first = beginning.source.opened
    let others = sources.dropFirst(beginning.index + 1).filter(\.isSlow)
    let isFirstSlow = first.mayWait && !sources[beginning.index].isDatabase
    guard isFirstSlow || !others.isEmpty, try isOneTransaction(on: connection) else { return 0 }
    // Who ends it now is told what it would have been.
    if job.options.output.dryRun != nil { summary.withLock { $0.isDryRun = true } }
    let start = Stopwatch()
    let before = ahead.spool.byteCount
    if isFirstSlow {
      _ = try first.readAhead(into: ahead.spool, memoryByteCount: FeedsAhead.firstMemoryByteCount) {
        control.note(bytes: first.counter.count)
      }
    }
    var byteCount = first.counter.count
    for source in others {
      var counted: UInt64 = 0
      try ahead.read(source, of: job.table, open: { () throws(UpsurgeError) in try openAhead(source) }) {
        count in
        counted = count
        control.note(bytes: byteCount + count)
      }
      byteCount += counted
    }
    let written = ahead.spool.byteCount - before
    if written == 0 { return start.seconds }
    note(
      RunNote(
        .info,
        "the input was read ahead, so that other programs can write until it is there: \(Words.bytes(Double(written)))"
          + " of it wait in a temporary file in \(ahead.folder.escapedForTerminal)"))
    return start.seconds
  }

  private func openAhead(_ source: Source) throws(UpsurgeError) -> FileSource {
    if let file = try ahead.take(source, of: job.table, cancellation: readCancellation) { return file }
    if let own = job.options.ownSource(source) {
      return try own.file(name: source.name, counter: ByteCounter(), cancellation: readCancellation)
    }
    let environment = job.options.environment
    return try FileSource(
      source, asking: environment.question, archives: environment.archives, cancellation: readCancellation)
  }

  /// Whether the run's transaction is held from its first record to its last.
  private func isOneTransaction(on connection: Connection?) throws(UpsurgeError) -> Bool {
    let options = job.options
    // Who wants the first records only does not wait for all of them; and nobody else writes to what is new or a copy.
    if options.output.isExplained || options.input.recordLimit != nil
      || options.transaction.durability == .off
      || job.database == ":memory:"
    {
      return false
    }
    if options.output.isTrial { return access(job.database, F_OK) == 0 }
    if group != nil || options.transaction.isAtomic || options.table.foreignKeys == .deferred
      || options.indexes.upkeep == .defer
      || options.indexes.fullTextUpkeep == .defer
    {
      return true
    }
    guard let connection else { return false }
    return try TableSchema.read(connection, table: job.table)?.hasDeferredForeignKeys ?? false
  }
}

extension PreparedSource {
  /// Looks at a source that is open.
  fileprivate static func prepare(
    _ file: FileSource, of source: Source, options: LoadOptions
  ) throws(UpsurgeError) -> PreparedSource {
    if case .records = options.ownSource(source) { return try records(of: file) }
    return try prepare(file, options: options)
  }
}
