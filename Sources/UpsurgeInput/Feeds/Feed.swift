import UpsurgeRecords

/// A stream that another thread or process writes into a pipe, and that can tell at its end whether all has come.
///
///     HTTPFetch     a thread writes the body of an answer
///     CommandFeed   a command's standard output
package protocol Feed: AnyObject {
  /// Where the bytes are read; the feed closes it when it goes.
  var descriptor: Int32 { get }
  /// How many bytes are to come, where the sender has said so.
  var expectedByteCount: UInt64? { get }
  /// Whether a break can be told from the end.
  var provesEnd: Bool { get }

  /// Whether all has come; asked when `descriptor` is at its end, and again with the same answer.
  /// - Parameter cancellation: ends the wait for what the sender says last.
  /// - Throws: `badInput` for a stream that is not whole; `interrupted`.
  func checkWhole(cancellation: ReadCancellation?) throws(UpsurgeError)

  /// Ends the sender, whatever it still has.
  func stop()
}
