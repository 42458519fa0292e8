import Synchronization
import Upsurge
import UpsurgeInput
import UpsurgeMirror
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What people see: notes, the progress line and the ledger, all on standard error.
final class Terminal: Sendable {
  private let isQuiet: Bool
  private let isVerbose: Bool
  private let showsProgress: Bool
  private let log: LogFormat
  /// Seconds between two lines of progress.
  private let progressPause: Double
  /// Seconds until the first one: what is soon over is over without.
  private let progressDelay: Double
  /// Whether everything that is said is JSON, also what is said where no terminal is at hand.
  private static let saysJSON = Atomic<Bool>(false)
  private static let isColoured = TerminalStyle.isColoured(STDERR_FILENO)
  private let watch = Stopwatch()
  /// How often each kind of note was told.
  private let noteCounts = Guarded<NoteCounts>(NoteCounts())
  /// Whether a progress line stands on the screen, when the last one was drawn, and whether none is to be drawn now.
  private let state = Guarded<LineState>(LineState())
  private struct LineState {
    var isDrawn = false
    var drawnAt = -1.0
    var isPaused = false
  }

  convenience init(output: OutputOptions, log: LogFormat = .text) {
    self.init(isQuiet: output.isQuiet, isVerbose: output.isVerbose, progress: output.progress, log: log)
  }

  init(
    isQuiet: Bool = false, isVerbose: Bool = false, progress: ProgressPolicy = .auto, log: LogFormat = .text
  ) {
    self.isQuiet = isQuiet
    self.isVerbose = isVerbose
    self.log = log
    let isWatched = log == .json || isatty(STDERR_FILENO) == 1
    showsProgress = !isQuiet && (progress == .always || progress == .auto && isWatched)
    progressPause = log == .text ? 0.2 : progress == .always ? 1 : 10
    progressDelay = log == .text && progress == .auto ? 0.5 : 0
    if log == .json { Terminal.beginJSON() }
  }

  /// Whether the words of a command line hold `--log json`.
  static func asksForJSON(_ arguments: [String]) -> Bool {
    let words = arguments.prefix { $0 != "--" }
    return words.contains("--log=json") || zip(words, words.dropFirst()).contains { $0 == ("--log", "json") }
  }

  /// From here on everything on standard error is JSON, also what commands say there that are read from.
  static func beginJSON() {
    saysJSON.store(true, ordering: .relaxed)
    CommandFeed.passTalk { line in say(LogLine(.info, "command", line)) }
  }

  /// The text with the control characters of names and data made visible; line ends stay.
  static func visible(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).escapedForTerminal }
      .joined(separator: "\n")
  }

  /// Writes to standard error as it is; where JSON is asked for, as an error's line.
  static func say(_ text: String) {
    guard saysJSON.load(ordering: .relaxed) else {
      _ = write(Array((isColoured ? TerminalStyle.painted(text) : text).utf8), to: STDERR_FILENO)
      return
    }
    let words = text.hasPrefix("upsurge: ") ? text.dropFirst("upsurge: ".utf8.count) : text[...]
    let lines = words.split(separator: "\n").map { $0.drop { $0 == " " } }
    if !lines.isEmpty { say(LogLine(.error, "error", lines.joined(separator: "; "))) }
  }

  private static func say(_ line: LogLine) { _ = write(line.bytes, to: STDERR_FILENO) }

  /// Writes all of `bytes`.
  /// - Returns: false when the system refuses; `errno` says why.
  static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      if count < 0 && errno == EAGAIN && descriptor != STDERR_FILENO {
        // Whoever shares the descriptor has made it non-blocking.
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&entry, 1, 100)
        continue
      }
      if count <= 0 { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// A line that a stage wants said.
  var note: @Sendable (RunNote) -> Void {
    { [self] note in
      guard !isQuiet || note.isAlwaysSaid, isVerbose || note.level != .detail else { return }
      if isVerbose || noteCounts.withLock({ $0.take(note) }) { show(note) }
    }
  }

  private func show(_ note: RunNote) {
    if log == .json { return Terminal.say(LogLine(note)) }
    // No other thread draws the line between the two.
    state.withLock { state in
      clear(&state)
      Terminal.say((note.level == .warning ? "warning: " : "") + Terminal.visible(note.text) + "\n")
    }
  }

  /// Says in one line of each kind of note how many more there were.
  private func showRestOfNotes() {
    for note in noteCounts.withLock({ $0.takeRest() }) { show(note) }
  }

  /// Draws the progress line anew, at most five times a second.
  func show(_ progress: RunControl.Progress) {
    guard showsProgress else { return }
    let seconds = watch.seconds
    state.withLock { state in
      guard !state.isPaused, seconds >= progressDelay, seconds - state.drawnAt >= progressPause else {
        return
      }
      if log == .json {
        state.drawnAt = seconds
        return Terminal.say(LogLine(progress, seconds: seconds))
      }
      (state.isDrawn, state.drawnAt) = (true, seconds)
      Signals.isProgressDrawn.store(true, ordering: .relaxed)
      Terminal.say("\r\u{1B}[K" + ProgressLine.fitted(ProgressLine.text(progress, seconds: seconds)))
    }
  }

  func clearProgress() { state.withLock { clear(&$0) } }

  private func clear(_ state: inout LineState) {
    if state.isDrawn { Terminal.say("\r\u{1B}[K") }
    state.isDrawn = false
    Signals.isProgressDrawn.store(false, ordering: .relaxed)
  }

  /// Does what may take long, and draws meanwhile how far it is.
  func watching<Result>(
    _ control: RunControl, _ work: () throws(UpsurgeError) -> Result
  ) throws(UpsurgeError) -> Result {
    let drawer = draw(control)
    defer { drawer?.end() }
    return try work()
  }

  /// Draws how far a run is until `end` is called; nil where nobody is shown it.
  /// - Parameter needsTable: whether it begins only with the first table of a job.
  func draw(_ control: RunControl, needsTable: Bool = false) -> ProgressDrawer? {
    showsProgress ? ProgressDrawer(control, on: self, needsTable: needsTable) : nil
  }

  /// Says something of several lines, between which nobody draws.
  func withoutProgress(_ talk: () -> Void) {
    state.withLock { state in
      clear(&state)
      state.isPaused = true
    }
    talk()
    state.withLock { $0.isPaused = false }
  }

  /// The ledger, the warnings, and why the run ended if it ended early.
  /// - Parameter isOfJob: whether a job file has asked for the run.
  func show(_ summary: RunSummary, isOfJob: Bool = false) {
    showRestOfNotes()
    for error in [summary.error, summary.guardRefusal].compactMap({ $0 }) {
      Terminal.say("upsurge: \(Terminal.visible(error.description))\n")
    }
    guard !isQuiet else {
      return showRespelled(summary.warnings, inNewTable: summary.createdTable != nil)
    }
    if summary.error?.code == .usage && summary.progress.committedCount == 0 {
      // A ledger of zeros says nothing.
      return summary.progress.hasBegunToWrite
        ? Terminal.say("  stopped: nothing of this run is in the database\n") : ()
    }
    Terminal.say(Terminal.visible(LedgerText.text(summary, isOfJob: isOfJob)))
  }

  /// What is said also where nothing else is: that values are not what they were.
  private func showRespelled(_ warnings: WarningLog, inNewTable: Bool = false) {
    for line in LedgerText.notes(warnings, of: .spellingChanged, inNewTable: inNewTable) {
      Terminal.say(Terminal.visible(line) + "\n")
    }
  }
}

extension Terminal {
  /// Where the time of a load went, and what would make it shorter.
  func showTime(_ summary: RunSummary) {
    let facts = summary.timeFacts
    if facts.stages.isEmpty { return }
    Terminal.say(Terminal.visible(TimeText.text(facts, TimeAdvice(facts))))
  }

  /// Where the time of a replay went.
  func showTime(_ summary: ReplaySummary) {
    var facts = TimeFacts()
    (facts.seconds, facts.stages) = (summary.seconds, summary.stages)
    if facts.stages.isEmpty { return }
    Terminal.say(Terminal.visible(TimeText.text(facts, nil)))
  }

  /// What a replay did, and why it ended if it ended early.
  func show(_ summary: ReplaySummary) {
    showRestOfNotes()
    if let error = summary.error { Terminal.say("upsurge: \(Terminal.visible(error.description))\n") }
    if isQuiet { return showRespelled(summary.warnings) }
    guard summary.error?.code != .usage || summary.ledger.read > 0 else { return }
    Terminal.say(Terminal.visible(ReplayText.text(summary)))
  }
}

extension Terminal {
  /// What became of one table of a job.
  func show(_ table: MirrorSummary.Table, in job: MirrorJob) {
    if log == .json {
      return isQuiet && [0, 2].contains(table.exitCode) ? () : Terminal.say(LogLine(table))
    }
    if let error = table.error {
      Terminal.say("upsurge: \(Terminal.visible("table \(table.name): \(error.description)"))\n")
    }
    for load in table.loads { show(load, isOfJob: job.file != nil) }
    if let since = table.unchangedSince, table.loads.isEmpty {
      let when = since.isEmpty ? "" : " of \(since)"
      note(
        RunNote(
          .info, "\(table.name) in \(job.shownDatabase): the delivery is still that\(when), nothing was read"
            + (table.exitCode == 2 ? LedgerText.leftBehind : "")))
    }
  }
}

extension Terminal {
  /// Why a run came to nothing.
  func show(_ error: UpsurgeError) {
    if log == .json { return Terminal.say(LogLine(error)) }
    Terminal.say("upsurge: \(Terminal.visible(error.description))\n")
  }

  /// The end of a job.
  func show(_ summary: MirrorSummary) {
    showRestOfNotes()
    if log == .json {
      return isQuiet && [0, 2].contains(summary.exitCode) ? () : Terminal.say(LogLine(summary))
    }
    if let error = summary.error { show(error) }
  }
}

/// write(2), which the method of the same name hides.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, bytes, count)
}
