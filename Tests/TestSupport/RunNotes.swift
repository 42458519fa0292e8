import Synchronization

/// Takes what a run notes, on any thread.
package final class RunNotes: Sendable {
  private let texts = Mutex<[String]>([])

  /// None yet.
  package init() {}

  /// Takes one more.
  package func add(_ text: String) { texts.withLock { $0.append(text) } }

  /// All so far, the first one first.
  package var all: [String] { texts.withLock { $0 } }
}
