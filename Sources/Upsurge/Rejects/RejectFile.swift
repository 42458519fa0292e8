#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file of rejected records, one JSON object a line (see `RejectLine`), below lines that say how they were read (see
/// `RejectContext`). One of those stands above the first reject, and another one wherever the next reject is of a source
/// that is read in another way. A run without a reject leaves the file empty.
///
/// As long as nothing of the run is committed, the first byte is `#` instead of `{`. A file that a killed run has left so
/// holds records that are in no table, and the run itself will read them again.
///
/// It agrees with the ledger: the records of a transaction that is rolled back leave it again. Those of a trial stay,
/// though all of it is rolled back: they are what it is for.
package final class RejectFile: RejectSink {
  private let path: String
  private let place: String
  private let file: OutputFile
  private let isTrial: Bool
  /// Whether the file holds nothing but what this run has written.
  private var isOwn: Bool
  private let contexts: RejectContexts
  private let note: (RunNote) -> Void
  /// Whether the run reads a file more than once, so that its name does not tell which time it was.
  private let repeatsSources: Bool
  private var text = JSONText()
  /// The context of the last line, and of the last one that is there to stay.
  private var context: String?
  private var keptContext: String?
  package private(set) var recordCount: UInt64 = 0
  /// Whether the first line still has to be made one.
  private var isUnconfirmed = false

  /// Makes the file, readable by its owner only; does not follow a symbolic link. What stands in it goes when the first
  /// transaction has begun, so that a run which is refused before leaves it alone.
  /// - Parameters:
  ///   - sourceNames: the run's sources.
  ///   - continuing: leaves what this earlier part of the run has written, for `goOn`.
  ///   - note: is told of what stood in the file, when it goes.
  /// - Throws: `cannotCreate`; `databaseBusy` for a file that another process writes or replays.
  package init(
    path: String, isTrial: Bool, contexts: RejectContexts, sourceNames: [String],
    continuing run: RunRecord? = nil, note: @escaping (RunNote) -> Void
  ) throws(UpsurgeError) {
    file = try OutputFile(path: path, option: "\(.rejects)", goesOn: true, holdsBack: !isTrial)
    self.path = path
    self.isTrial = isTrial
    place = RejectsTarget.file(path).place
    isOwn = run?.position.rejectsLength(in: place) != nil
    self.contexts = contexts
    self.note = note
    repeatsSources = Set(sourceNames.map(SourceName.place)).count < sourceNames.count
  }

  /// Goes on after the rejects of records that an earlier part of the run has committed, wherever they end by now:
  /// since then they may have been repaired, replayed or moved elsewhere.
  package func goOn(after run: RunRecord, note: (RunNote) -> Void) throws(UpsurgeError) {
    guard file.isFile, let length = run.position.rejectsLength(in: place) else { return }
    let kept = try KeptRejects(path, of: run)
    try file.cut(to: kept.byteCount)
    if kept.isUnconfirmed { try file.replaceFirst(with: Self.confirmed) }
    if !kept.endsLine {
      try file.append([0x0A])
      try file.keep()
    }
    context = kept.context
    keptContext = context
    if kept.byteCount != length { file.noteChange(isGone: kept.byteCount == 0, note) }
  }

  /// The first byte of a file of which nothing is committed, and of all others.
  static let unconfirmed = UInt8(ascii: "#")
  static let confirmed = UInt8(ascii: "{")

  /// Whether a killed run has left the file, which has committed nothing: its records are read again.
  private static func isUnconfirmed(_ path: String) -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    if descriptor < 0 { return false }
    defer { close(descriptor) }
    var byte: UInt8 = 0
    return pread(descriptor, &byte, 1, 0) == 1 && byte == unconfirmed
  }

  /// Makes the first byte of a file what it is where something is committed.
  /// - Returns: whether it was not that before.
  static func confirm(_ byte: inout UInt8) -> Bool {
    guard byte == unconfirmed else { return false }
    byte = confirmed
    return true
  }

  /// Makes the first bytes of all files what they are where something is committed, after a kill just after the last
  /// commit.
  static func confirm(filesOf run: RunRecord) {
    for path in run.position.rejectPlaces where isRegularFile(path) {
      let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
      if descriptor < 0 { continue }
      defer { close(descriptor) }
      // Who writes it now says so itself.
      if flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK { continue }
      var byte: UInt8 = 0
      if pread(descriptor, &byte, 1, 0) == 1, confirm(&byte) { pwrite(descriptor, &byte, 1, 0) }
    }
  }

  /// Appends one record; written out at 64 KiB, by `flush` and by `didCommit`.
  package func write(_ reject: Reject) throws(UpsurgeError) {
    if let own = contexts.text(of: reject.position.file), own != context {
      text.literal(own)
      text.newline()
      context = own
    }
    var reject = reject
    if !repeatsSources { reject.sourceIndex = nil }
    RejectLine.write(reject, to: &text)
    if !isTrial && file.isFile && file.length == 0 {
      isUnconfirmed = true
      try file.append([Self.unconfirmed] + text.bytes.dropFirst())
    } else {
      try file.append(text.bytes)
    }
    text.removeAll()
    recordCount += 1
  }

  package func didBegin() throws(UpsurgeError) {
    if isOwn { return }
    if file.isFile {
      let byteCount = Self.isUnconfirmed(path) ? 0 : FileIdentity.byteCount(ofPath: path) ?? 0
      try file.cut(to: 0)
      if byteCount > 0 { noteReplaced(byteCount) }
    }
    isOwn = true
  }

  /// What an earlier load has rejected, and nobody has replayed, stands nowhere else.
  private func noteReplaced(_ byteCount: UInt64) {
    var said = RunNote(
      .warning,
      "\(path.escapedForTerminal) held \(Words.bytes(Double(byteCount))) of earlier rejects, which are gone, as each load makes "
        + "the file anew; replay such a file first, or give another path to \(.rejects)")
    said.isAlwaysSaid = true
    note(said)
  }

  /// - Throws: `cannotCreate` when the disk refuses.
  package func flush() throws(UpsurgeError) { try file.flush() }

  package func willCommit() throws(UpsurgeError) { try file.sync() }

  package func didCommit() throws(UpsurgeError) {
    try file.keep()
    keptContext = context
    if !isUnconfirmed { return }
    try file.replaceFirst(with: Self.confirmed)
    isUnconfirmed = false
  }

  /// The length that the next commit stands for.
  package var length: UInt64? { file.length }

  package func didRollBack() {
    if isTrial { return }
    file.discard()
    context = keptContext
    isUnconfirmed = false
  }
}
