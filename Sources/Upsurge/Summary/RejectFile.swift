/// A file of rejected records, one JSON object a line (see `RejectLine`), below lines that say how they were read (see
/// `RejectContext`): one above the first reject, and another one wherever the next reject is of a source that is read
/// in another way. A run without a reject leaves the file empty.
///
/// It agrees with the ledger: the records of a transaction that is rolled back leave it again. Those of a trial stay,
/// though all of it is rolled back: they are what it is for.
final class RejectFile: RejectSink {
  private let file: OutputFile
  private let isTrial: Bool
  private let contexts: RejectContexts
  private var text = JSONText()
  /// The context of the last line, and of the last one that is there to stay.
  private var context: String?
  private var keptContext: String?

  /// Makes the file anew, readable by its owner only; does not follow a symbolic link.
  /// - Throws: `cannotCreate`.
  /// - Parameter length: of a file that an earlier part of the run has written; nil makes it anew.
  init(
    path: String, isTrial: Bool, contexts: RejectContexts, goingOnAt length: UInt64? = nil
  ) throws(UpsurgeError) {
    file = try OutputFile(path: path, option: "--rejects", goingOnAt: length)
    self.isTrial = isTrial
    self.contexts = contexts
    if let length, length > 0 { context = try Self.lastContext(in: path, through: length) }
    keptContext = context
  }

  /// The context of the last record that an earlier part of the run has written.
  private static func lastContext(
    in path: String, through length: UInt64
  ) throws(UpsurgeError) -> String? {
    let mark = Array("{\"\(RejectContext.key)\":".utf8)
    let reader = try RejectFileReader(path: path)
    var last: String?
    while reader.place.byteCount < length, let piece = try reader.next() {
      if let line = piece.line, line.starts(with: mark) { last = String(decoding: line, as: UTF8.self) }
    }
    return last
  }

  /// Appends one record; written out at 64 KiB, by `flush` and by `didCommit`.
  func write(_ reject: Reject) throws(UpsurgeError) {
    if let own = contexts.text(of: reject.position.file), own != context {
      text.literal(own)
      text.newline()
      context = own
    }
    RejectLine.write(reject, to: &text)
    try file.append(text.bytes)
    text.removeAll()
  }

  /// - Throws: `cannotCreate` when the disk refuses.
  func flush() throws(UpsurgeError) { try file.flush() }

  func willCommit() throws(UpsurgeError) { try file.sync() }

  func didCommit() throws(UpsurgeError) {
    try file.keep()
    keptContext = context
  }

  /// The length that the next commit stands for.
  var length: UInt64? { file.length }

  func didRollBack() {
    if isTrial { return }
    file.discard()
    context = keptContext
  }
}
