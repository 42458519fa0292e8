#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Slow sources that were read to their end before the transaction of their records begins, and the file in which they
/// wait for it.
///
///     LoadRun       reads its own sources ahead, where all of its records are one transaction
///     GroupMirror   reads those of all its tables ahead, as they share one
package final class FeedsAhead: @unchecked Sendable {
  // Sendable because `sources` is only touched while `monitor` is locked, and each source has one taker.

  /// The folder of the database, which holds the file.
  package let folder: String
  let spool: SpoolFile
  /// Makes another file there, for texts of workbooks.
  let makeTextSpool: @Sendable () -> SpoolFile
  private var sources: [Key: [Result<FileSource, UpsurgeError>]] = [:]
  private let monitor = Monitor()

  private struct Key: Hashable {
    var table: String
    var source: Source.Opening
  }

  /// Bytes of a source that stay in memory: of the first source of a load, and of any other.
  static let firstMemoryByteCount = 1 << 20
  private static let memoryByteCount = 64 << 10

  /// - Parameter freeByteCount: what the disk has left; nil asks the system.
  package init(database: String, freeByteCount: (@Sendable () -> Int?)? = nil) {
    var path = database
    if let real = realpath(database, nil) {
      path = String(cString: real)
      free(real)
    }
    let folder = path.lastIndex(of: "/").map { path[...$0] == "/" ? "/" : String(path[..<$0]) } ?? "."
    self.folder = folder
    let freeByteCount = freeByteCount ?? { DiskSpace.free(at: folder) }
    spool = SpoolFile(in: folder, freeByteCount: freeByteCount)
    makeTextSpool = { SpoolFile(in: folder, for: .texts, freeByteCount: freeByteCount) }
  }

  /// Opens a source of a load and reads all of it.
  /// - Returns: why it cannot be read, or is not whole; who takes it is told the same then.
  /// - Throws: `interrupted`; `cannotCreate` where there is no room.
  @discardableResult
  package func read(
    _ source: Source, of table: String, open: () throws(UpsurgeError) -> FileSource,
    progress: (UInt64) -> Void
  ) throws(UpsurgeError) -> UpsurgeError? {
    let result: Result<FileSource, UpsurgeError>
    do throws(UpsurgeError) {
      let file = try open()
      if file.response?.isNotModified != true {
        try file.readAhead(into: spool, memoryByteCount: Self.memoryByteCount) {
          progress(file.counter.count)
        }
      }
      result = .success(file)
    } catch {
      if error.code == .interrupted || error.code == .cannotCreate { throw error }
      result = .failure(error)
    }
    let key = Key(table: SQLName.folded(table), source: source.opening)
    monitor.lock()
    sources[key, default: []].append(result)
    monitor.unlock()
    switch result {
    case .success(let file): return file.failureAhead
    case .failure(let error): return error
    }
  }

  /// Forgets what was read of a table.
  package func forget(_ table: String) {
    let table = SQLName.folded(table)
    monitor.lock()
    defer { monitor.unlock() }
    for key in sources.keys where key.table == table { sources[key] = nil }
  }

  /// Hands a source over that was read ahead; nil where it was not.
  /// - Throws: why it could not be opened.
  func take(
    _ source: Source, of table: String, cancellation: ReadCancellation
  ) throws(UpsurgeError) -> FileSource? {
    let key = Key(table: SQLName.folded(table), source: source.opening)
    monitor.lock()
    let result = sources[key]?.first
    if result != nil { sources[key]?.removeFirst() }
    monitor.unlock()
    guard let file = try result?.get() else { return nil }
    file.cancellation = cancellation
    return file
  }
}
