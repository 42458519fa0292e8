import Synchronization

/// A count of bytes that one thread raises and any other may read at any time (a progress bar).
package final class ByteCounter: Sendable {
  private let bytes = Atomic<UInt64>(0)

  package init() {}

  /// The bytes counted so far.
  package var count: UInt64 { bytes.load(ordering: .relaxed) }

  func add(_ more: Int) { bytes.wrappingAdd(UInt64(more), ordering: .relaxed) }

  /// Takes bytes back that are about to be read again.
  func takeBack(_ fewer: UInt64) { bytes.wrappingSubtract(fewer, ordering: .relaxed) }
}
