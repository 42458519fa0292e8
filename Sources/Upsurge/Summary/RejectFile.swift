#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file of rejected records, one JSON object a line (see `RejectLine`), below lines that say how they were read (see
/// `RejectContext`): one above the first reject, and another one wherever the next reject is of a source that is read
/// in another way. A run without a reject leaves the file empty.
///
/// It agrees with the ledger: the records of a transaction that is rolled back leave it again. Those of a trial stay,
/// though all of it is rolled back: they are what it is for.
final class RejectFile: RejectSink {
  private let path: String
  private let file: OutputFile
  private let isTrial: Bool
  /// Whether the file holds nothing but what this run has written.
  private var isOwn: Bool
  private let contexts: RejectContexts
  /// Whether the run reads a file more than once, so that its name does not tell which time it was.
  private let repeatsSources: Bool
  private var text = JSONText()
  /// The context of the last line, and of the last one that is there to stay.
  private var context: String?
  private var keptContext: String?
  private(set) var recordCount: UInt64 = 0

  /// Makes the file, readable by its owner only; does not follow a symbolic link. What stands in it goes when the first
  /// transaction has begun, so that a run which is refused before leaves it alone.
  /// - Parameters:
  ///   - sourceNames: the run's sources.
  ///   - goesOn: leaves what an earlier part of the run has written, for `goOn`.
  /// - Throws: `cannotCreate`; `databaseBusy` for a file that another process writes or replays.
  init(
    path: String, isTrial: Bool, contexts: RejectContexts, sourceNames: [String], goesOn: Bool = false
  ) throws(UpsurgeError) {
    file = try OutputFile(path: path, option: "--rejects", goesOn: true, holdsBack: !isTrial)
    self.path = path
    self.isTrial = isTrial
    isOwn = goesOn
    self.contexts = contexts
    repeatsSources = Set(sourceNames.map(SourceName.place)).count < sourceNames.count
  }

  /// Goes on behind the rejects of records that an earlier part of the run has committed, wherever they end by now:
  /// since then they may have been mended, replayed or moved elsewhere.
  func goOn(after run: RunRecord, note: (RunNote) -> Void) throws(UpsurgeError) {
    guard file.isFile, let length = run.position.outputLengths["--rejects"] else { return }
    let kept = try KeptRejects(path, of: run)
    try file.cut(to: kept.byteCount)
    if !kept.endsLine {
      try file.append([0x0A])
      try file.keep()
    }
    context = kept.context
    keptContext = context
    if kept.byteCount != length { file.noteChange(isGone: kept.byteCount == 0, note) }
  }

  /// Appends one record; written out at 64 KiB, by `flush` and by `didCommit`.
  func write(_ reject: Reject) throws(UpsurgeError) {
    if let own = contexts.text(of: reject.position.file), own != context {
      text.literal(own)
      text.newline()
      context = own
    }
    var reject = reject
    if !repeatsSources { reject.sourceIndex = nil }
    RejectLine.write(reject, to: &text)
    try file.append(text.bytes)
    text.removeAll()
    recordCount += 1
  }

  func didBegin() throws(UpsurgeError) {
    if isOwn { return }
    if file.isFile { try file.cut(to: 0) }
    isOwn = true
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
