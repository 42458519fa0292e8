/// A file of rejected records, one JSON object a line: `file record line byte column code reason raw`.
///
/// It agrees with the ledger: the records of a transaction that is rolled back leave it again. Those of a trial stay,
/// though all of it is rolled back: they are what it is for.
///
/// Raw bytes that are not UTF-8 are shown with U+FFFD and stand whole in `raw_base64`; what is longer than 64 KiB is
/// cut, and `raw_cut` says so.
final class RejectFile: TransactionObserver {
  private let file: OutputFile
  private let isTrial: Bool
  private var text = JSONText()

  /// Makes the file anew, readable by its owner only; does not follow a symbolic link.
  /// - Throws: `cannotCreate`.
  /// - Parameter length: of a file that an earlier part of the run has written; nil makes it anew.
  init(path: String, isTrial: Bool, goingOnAt length: UInt64? = nil) throws(UpsurgeError) {
    file = try OutputFile(path: path, option: "--rejects", goingOnAt: length)
    self.isTrial = isTrial
  }

  /// Appends one record; written out at 64 KiB, by `flush` and by `didCommit`.
  func write(_ reject: borrowing Reject) throws(UpsurgeError) {
    text.beginObject()
    text.key("file")
    text.string(reject.position.file)
    for (name, value) in [
      ("record", reject.position.record), ("line", reject.position.line),
      ("byte", reject.position.byte),
    ] {
      text.key(name)
      if let value { text.number(value) } else { text.null() }
    }
    text.key("column")
    if let column = reject.column { text.string(column) } else { text.null() }
    text.key("code")
    text.string(reject.code.rawValue)
    text.key("reason")
    text.string(reject.reason)
    text.key("raw")
    text.string(repairing: reject.raw)
    if String(validating: reject.raw, as: UTF8.self) == nil {
      text.key("raw_base64")
      text.string(Base64.encode(reject.raw))
    }
    if reject.isRawCut {
      text.key("raw_cut")
      text.bool(true)
    }
    text.endObject()
    text.newline()
    try file.append(text.bytes)
    text.removeAll()
  }

  /// Writes out what is buffered.
  /// - Throws: `cannotCreate` when the disk refuses.
  func flush() throws(UpsurgeError) { try file.flush() }

  func willCommit() throws(UpsurgeError) { try file.sync() }

  func didCommit() throws(UpsurgeError) { try file.keep() }

  /// The length that the next commit stands for.
  var length: UInt64? { file.length }

  func didRollBack() {
    if !isTrial { file.discard() }
  }
}
