import Synchronization

/// Ends the reading of an input from another thread. Who waits for a pipe looks at it at least ten times a second, who
/// parses at least once in so many bytes (`lookByteCount`), also inside one record.
package final class ReadCancellation: Sendable {
  private let flag = Atomic<Bool>(false)
  private let other: ReadCancellation?
  private let question: (@Sendable () -> Bool)?

  /// Parsers look after so many bytes.
  @inlinable package static var lookByteCount: Int { 256 << 10 }

  /// - Parameter other: ends this one, too.
  package init(following other: ReadCancellation? = nil) { (self.other, question) = (other, nil) }

  /// - Parameter question: is asked each time somebody looks, on any thread, and ends it by true.
  package init(asking question: @escaping @Sendable () -> Bool) { (other, self.question) = (nil, question) }

  /// May be called on any thread, and from a signal handler that already holds a reference.
  package func request() { flag.store(true, ordering: .relaxed) }

  package var isRequested: Bool { flag.load(ordering: .relaxed) || other?.isRequested == true || question?() == true }
}
