import Upsurge
import UpsurgeInput
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reading what a table's feed has before a transaction begins that it shares with other tables.
extension TableMirror {
  /// Whether its sources may have to be waited for.
  var mayWait: Bool {
    !takesEachOnce && (table.unattended.retryCount > 0 || table.sources.contains(where: \.isSlow))
  }

  /// Reads the slow sources to their end, and looks whether the files are there.
  /// - Returns: why the feed cannot be read, as far as that is known then.
  func readAhead(into ahead: FeedsAhead, _ tick: (RunControl.Progress) -> Void) -> UpsurgeError? {
    do throws(UpsurgeError) {
      let sources = try SourceList.expand(table.maskedSources)
      for source in sources where !source.isSlow {
        guard let path = source.filePath else { continue }
        if access(ArchivePath(path)?.archive ?? path, R_OK) != 0 { throw .cannotOpen(path, errno) }
      }
      let slow = sources.filter(\.isSlow)
      if slow.isEmpty { return nil }
      let question = try options(knownForRequest(), sources).environment.question
      return try readAhead(slow, asking: question, into: ahead, tick)
    } catch {
      return error
    }
  }

  /// What is known of the feed, without what would have a server take another feed for it.
  private func knownForRequest() throws(UpsurgeError) -> FeedRecord? {
    guard var known = try known() else { return nil }
    let identity = FeedIdentity(table)
    if known.identity.sources != identity.sources || !identity.changedHeaders(from: known.identity).isEmpty
      || identity.hasOtherSecrets(than: known.identity)
    {
      known.validators = HTTPValidators()
    }
    return known
  }

  /// Reads sources on a thread of its own, and passes on a cancellation.
  private func readAhead(
    _ sources: [Source], asking question: HTTPQuestion, into ahead: FeedsAhead,
    _ tick: (RunControl.Progress) -> Void
  ) throws(UpsurgeError) -> UpsurgeError? {
    let cancellation = ReadCancellation()
    let failure = Guarded<UpsurgeError?>(nil)
    let completion = Completion()
    let worker = try WorkerThread { [table = table.name, control] in
      var byteCount: UInt64 = 0
      for source in sources {
        let before = byteCount
        do throws(UpsurgeError) {
          let reason = try ahead.read(source, of: table) { () throws(UpsurgeError) in
            try FileSource(source, asking: question, cancellation: cancellation)
          } progress: { count in
            byteCount = before + count
            control.note(bytes: byteCount)
          }
          failure.withLock { $0 = reason }
        } catch {
          failure.withLock { $0 = error }
        }
        if failure.withLock({ $0 }) != nil { break }
      }
      completion.finish()
    }
    while !completion.wait(milliseconds: 100) {
      if control.cancellationSignal != nil { cancellation.request() }
      tick(control.progress)
    }
    worker.join()
    return failure.withLock { $0 }
  }
}
