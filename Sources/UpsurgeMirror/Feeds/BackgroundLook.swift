import Upsurge
import UpsurgeRecords

/// Finds out what the files of a delivery are while they are loaded: to hash them first would read them twice, one time
/// after the other.
final class BackgroundLook: Sendable {
  private let stamps: [DeliveredFile.Stamp?]
  private let found = Guarded<[DeliveredFile]?>(nil)
  private let thread = Guarded<WorkerThread?>(nil)
  /// Whether nobody asks any more.
  private let isVain = Guarded(false)

  init(_ sources: [Source], control: RunControl) throws(UpsurgeError) {
    stamps = sources.map { DeliveredFile.Stamp($0) }
    if stamps.contains(nil) { return }
    let paths = sources.compactMap(\.filePath)
    let worker = try WorkerThread { [self] in
      let found = Self.look(at: paths) { control.cancellationSignal != nil || isVain.withLock { $0 } }
      self.found.withLock { $0 = found }
    }
    thread.withLock { $0 = worker }
  }

  /// Waits for it.
  /// - Returns: nil where they are none that can be read twice, where they are not what they were at the start, and where
  ///   they could not be read to their end: the next run reads them again.
  func files() -> [DeliveredFile]? {
    wait()
    return found.withLock { $0 }.flatMap { $0.map(\.stamp) == stamps ? $0 : nil }
  }

  /// Ends it: the load has failed, so that nobody asks what was loaded. What was found before stays found.
  func giveUp() { isVain.withLock { $0 = true } }

  /// Waits for the thread; nothing of it is left then.
  func wait() {
    let worker = thread.withLock { $0.take() }
    worker?.join()
  }

  private static func look(at paths: [String], isCancelled: () -> Bool) -> [DeliveredFile]? {
    var files: [DeliveredFile] = []
    for path in paths {
      let file = try? DeliveredFile.look(at: path, known: KnownFiles(), isCancelled: isCancelled)
      guard let file else { return nil }
      files.append(file)
    }
    return files
  }
}
