import UpsurgeRecords
import UpsurgeSQLite

/// Ends what a move waits for: statements of a server, and the one that runs on a file.
final class Interruption: Sendable {
  /// What connections to servers look at.
  let server = ReadCancellation()
  private let file = Guarded<Interrupter?>(nil)

  /// Statements of this connection are ended from now on, and those of an earlier one no more.
  func follow(_ connection: Connection) {
    let interrupter = connection.interrupter
    file.withLock { $0 = interrupter }
  }

  /// May be called on any thread, and again.
  func request() {
    server.request()
    file.withLock { $0 }?.interrupt()
  }
}
