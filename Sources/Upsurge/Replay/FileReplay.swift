#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The replay of a file of rejects: its records a page at a time, each page in a transaction, and what is left of them
/// in a file that takes its place at the end.
///
/// Which lines are done is committed in the transaction of their rows (`ReplayMark`), with the length that the new file
/// had, which is on the disk by then. A replay that was killed goes on from there: it finds the mark by the hash of the
/// lines that are done, cuts the new file back, and reads on. At the end the log is synced, so that no power loss takes
/// rows of records that have left the file; then the new file takes the old one's place, and the mark goes.
struct FileReplay {
  /// Takes what becomes of the pages.
  private(set) var run: ReplayRun
  private let store: any ReplayStore
  private let reader: RejectFileReader
  private let path: String
  private let rewrite: RejectFileRewrite
  /// The context of the lines that follow, as text and understood; nil when nobody can read it.
  private var contextText: String?
  private var context: RejectContext?
  /// Why not.
  private var contextFault = ""
  private var page = Page()
  /// Runs that have not ended, and read again what is ahead of them.
  private var unfinished: [(run: RunRecord, place: CommittedPlace)]
  /// Whether lines of the file are done already, after which this replay goes on.
  private let isContinuing: Bool
  /// Whether this replay has stored anything; whether any line has changed.
  private var hasStored = false
  private var hasChanged = false
  /// What upsurge_replays holds of the file, as far as that is committed.
  private var mark: ReplayMark?
  /// What became of the records that are done.
  private var progress = ReplayProgress()

  /// What waits to be tried.
  private struct Page {
    var records: [Reject] = []
    /// The lines as they stand in the file.
    var lines: [[UInt8]] = []
    var fates: [Int: RejectPage.Fate] = [:]
    var byteCount = 0
    var positions: Set<Position> = []
    /// Where each line ends in the file.
    var ends: [ChainedBytes] = []
  }

  private static let pageByteLimit = 1 << 20

  /// - Throws: `unreadableInput`, `badInput` for what is not a file of rejected records, `databaseBusy`, `guardRefused`,
  ///   `cannotCreate`.
  init(
    _ path: String, store: any ReplayStore, run: ReplayRun
  ) throws(UpsurgeError) {
    self.store = store
    self.run = run
    self.path = try Self.absolute(path)
    // Locked before anything is looked at: runs and other replays may change what is known of it until then.
    var reader = try RejectFileReader(path: path)
    unfinished = try store.runs().filter { $0.state == .running }.map { ($0, CommittedPlace($0)) }
    let found = try Self.settle(self.path, shown: path, store.marks())
    // What an earlier replay has left may have taken its place.
    if !reader.isInPlace { reader = try RejectFileReader(path: path) }
    self.reader = reader
    mark = found
    let unfinishedMark = found.flatMap { $0.isWhole ? nil : $0 }
    isContinuing = unfinishedMark != nil
    rewrite = try RejectFileRewrite(
      target: self.path, mode: reader.mode, continuing: unfinishedMark?.kept)
    if let text = found?.progress {
      let earlier = try ReplayProgress(text)
      // What a replay that was complete has rejected stands in the file, and is tried again.
      progress = isContinuing ? earlier : earlier.withoutRejects
    } else {
      self.run.summary.rejectedBefore = rewrite.keptRecordCount
    }
    self.run.goOn(after: progress)
    if let unfinishedMark { try skip(through: unfinishedMark) }
  }

  /// Tries all records that were not tried yet.
  mutating func replayAll() throws(UpsurgeError) {
    run.control.note(totalBytes: reader.byteCount)
    if !isContinuing { try readFirstLine() }
    while run.control.cancellationSignal == nil, let piece = try reader.next() {
      try read(piece)
      run.control.note(bytes: reader.place.byteCount)
    }
    if run.control.cancellationSignal != nil { return leave() }
    try storePage()
    try finish()
  }

  // MARK: - Reading

  /// The first line says whether this is a file of rejects at all, before anything is made.
  private mutating func readFirstLine() throws(UpsurgeError) {
    let shown = reader.path.escapedForTerminal
    guard let piece = try reader.next() else { return }
    if reader.isUnconfirmed { try checkCommitted() }
    guard let line = piece.line, let text = String(validating: line, as: UTF8.self),
      let json = try? JSONValue(text), RejectContext.isContext(json)
    else {
      rewrite.remove()
      throw UpsurgeError(
        .badInput,
        "\(shown) is not a file of rejected records: its first line does not say how the records were read",
        hint: "give a file that upsurge load \(.rejects) wrote, with its first line")
    }
    do throws(UpsurgeError) {
      context = try RejectContext(json)
    } catch {
      rewrite.remove()
      var error = error
      error.position = Position(file: reader.path, line: 1)
      throw error
    }
    contextText = text
    try writeContext()
  }

  /// Of a file that a killed run has left: its first commit may have come just before it was killed.
  /// - Throws: `badInput` where nothing of the run is in the database.
  private func checkCommitted() throws(UpsurgeError) {
    let place = RejectsTarget.file(reader.path).place
    let isKnown = try store.runs().contains { $0.position.rejectsLength(in: place) != nil }
    if isKnown { return }
    rewrite.remove()
    throw UpsurgeError(
      .badInput,
      "\(reader.path.escapedForTerminal) was left by a load that was killed before it had committed any of these records",
      hint: "run that load again: it reads them again, and writes the file anew")
  }

  /// Goes past the lines that are done, and keeps in mind how those after them were read.
  private mutating func skip(through mark: ReplayMark) throws(UpsurgeError) {
    while reader.place.byteCount < mark.doneByteCount, let piece = try reader.next() {
      guard let line = piece.line, let text = String(validating: line, as: UTF8.self),
        text.contains(RejectContext.key), let json = try? JSONValue(text), RejectContext.isContext(json)
      else { continue }
      try begin(text, json)
    }
    run.note(
      RunNote(
        .info,
        "\(reader.path): an earlier replay ended early; going on after line \(reader.line), its ledger is part of this one"
      ))
  }

  private mutating func read(_ piece: RejectFileReader.Piece) throws(UpsurgeError) {
    guard let line = piece.line else { return try passOn(piece) }
    if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) {
      hasChanged = true
      return
    }
    var fate: RejectPage.Fate?
    var record: Reject?
    do throws(UpsurgeError) {
      guard let text = String(validating: line, as: UTF8.self) else {
        throw UpsurgeError(.badInput, "the line is not UTF-8")
      }
      let json = try JSONValue(text)
      if RejectContext.isContext(json) { return try begin(text, json) }
      let read = try RejectLine.read(json)
      record = read
      fate = context == nil ? .untried(RejectPage.unreadable, contextFault) : fateOfUnfinished(read)
    } catch {
      if error.code != .badInput { throw error }
      fate = .untried(RejectPage.unreadable, error.message)
    }
    let unread = Reject(
      RejectPage.unreadable, at: Position(file: reader.path, line: reader.line), reason: "",
      raw: UnsafeBufferPointer(start: nil, count: 0))
    try add(record ?? unread, line: Array(line), fate: fate)
  }

  /// A record that an unfinished run will read again is that run's to store, or to reject anew.
  private mutating func fateOfUnfinished(_ record: Reject) -> RejectPage.Fate? {
    let index = unfinished.indices.first {
      store.isSame(unfinished[$0].run.job.table, tableName)
        && unfinished[$0].place.isAhead(record, in: context?.folder)
    }
    guard let run = index.map({ unfinished[$0].run }) else { return nil }
    let database = store.place.quotedForShell
    return .untried(
      RejectPage.unfinished,
      "run \(run.id) into the table, which has not ended, reads the record again: end it first by its own command, or "
        + "give it up with upsurge runs \(database) \(Wording.option(.forget, "\(run.id)"))")
  }

  /// A line that says how the records below it were read.
  private mutating func begin(_ text: String, _ json: JSONValue) throws(UpsurgeError) {
    if text == contextText { return }
    try storePage()
    contextText = text
    do throws(UpsurgeError) {
      context = try RejectContext(json)
    } catch {
      context = nil
      contextFault = "line \(reader.line) cannot be understood: \(error.message)"
    }
  }

  private mutating func add(
    _ record: Reject, line: [UInt8], fate: RejectPage.Fate?
  ) throws(UpsurgeError) {
    let isUnlike = page.records.first.map { $0.position.file != record.position.file } ?? false
    if isUnlike || page.records.count >= run.job.options.pageRecordLimit
      || page.byteCount + line.count > Self.pageByteLimit || page.positions.contains(record.position.counted)
    {
      try storePage()
    }
    if let fate { page.fates[page.records.count] = fate }
    page.records.append(record)
    page.lines.append(line)
    page.positions.insert(record.position.counted)
    page.ends.append(reader.place)
    page.byteCount += line.count
  }

  /// A line that is longer than any that a load writes: it stays, and is told of once.
  private mutating func passOn(_ piece: RejectFileReader.Piece) throws(UpsurgeError) {
    if piece.isStart {
      try storePage()
      try writeContext()
      let place = Position(file: reader.path, line: reader.line)
      let reject = Reject(
        RejectPage.unreadable, at: place, reason: "", raw: UnsafeBufferPointer(start: nil, count: 0))
      let limit = RejectFileReader.pieceByteCount >> 20
      take(
        RejectPage(
          [reject], table: tableName,
          because: .untried(RejectPage.unreadable, "the line is longer than \(limit) MiB")))
    }
    try rewrite.append(piece.bytes)
    if piece.isEnd, piece.bytes.last != 0x0A { try rewrite.append([0x0A]) }
  }

  // MARK: - Storing

  /// The name under which records are counted that nobody can read.
  private var tableName: String { context?.table ?? "-" }

  private mutating func storePage() throws(UpsurgeError) {
    defer { page = Page() }
    if page.records.isEmpty { return }
    let (start, startContext) = (rewrite.written, rewrite.context)
    do throws(UpsurgeError) {
      try storePage(page.records.indices)
    } catch {
      try goBack(to: start, startContext, after: error)
      // The page cannot be committed: foreign keys are open, or a trigger rolled it back. One record is to blame.
      for index in page.records.indices { try storeAlone(index) }
    }
  }

  private mutating func storeAlone(_ index: Int) throws(UpsurgeError) {
    let (start, startContext) = (rewrite.written, rewrite.context)
    do throws(UpsurgeError) {
      try storePage(index..<index + 1)
    } catch {
      try goBack(to: start, startContext, after: error)
      let record = page.records[index]
      let reject = record.again(Reject.Code(rawValue: "transaction"), error.message)
      try keep([.rejected(reject)], from: index)
      take(RejectPage([record], table: tableName, because: .rejected(reject)))
    }
  }

  /// Takes back what was written for records that were not committed.
  /// - Throws: the error itself, where no record is to blame.
  private func goBack(
    to start: ChainedBytes, _ startContext: String?, after error: UpsurgeError
  ) throws(UpsurgeError) {
    guard error.code == .badInput else { throw error }
    try cut(to: start, startContext)
  }

  private func cut(to start: ChainedBytes, _ context: String?) throws(UpsurgeError) {
    try rewrite.cut(to: start)
    rewrite.context = context
  }

  private mutating func storePage(_ range: Range<Int>) throws(UpsurgeError) {
    let records = Array(page.records[range])
    guard let context else {
      let fate = RejectPage.Fate.untried(RejectPage.unreadable, contextFault)
      try keep(records.map { _ in fate }, from: range.lowerBound)
      return take(RejectPage(records, table: tableName, because: fate))
    }
    var known: [Int: RejectPage.Fate] = [:]
    for (index, fate) in page.fates where range.contains(index) { known[index - range.lowerBound] = fate }
    let (start, startContext) = (rewrite.written, rewrite.context)
    var (next, isAgain): (ReplayMark?, Bool) = (nil, false)
    let tried = try store.transaction { (transaction) throws(UpsurgeError) in
      if isAgain { try cut(to: start, startContext) }
      isAgain = true
      var tried = RejectPage(records, context: context, options: run.job.options, fates: known)
      try transaction.store(&tried) { (tried) throws(UpsurgeError) in
        try keep(tried.fates, from: range.lowerBound)
        next = nil
        guard tried.fates.contains(where: \.isGone) else { return false }
        var whole = progress
        whole.add(tried.progress, to: tried.table)
        let mark = try nextMark(doneThrough: page.ends[range.upperBound - 1], whole)
        try transaction.write(mark, after: self.mark)
        next = mark
        return true
      }
      return tried
    }
    take(tried)
    if let next {
      (hasStored, mark) = (true, next)
      try rewrite.confirm()
    }
  }

  /// Notes what became of a page that is done.
  private mutating func take(_ page: RejectPage) {
    progress.add(page.progress, to: page.table)
    run.take(page)
  }

  /// Writes the lines of the records that stay.
  private mutating func keep(_ fates: [RejectPage.Fate], from first: Int) throws(UpsurgeError) {
    for (offset, fate) in fates.enumerated() {
      let record = page.records[first + offset]
      switch fate {
      case .gone: hasChanged = true
      case .untried: try keep(page.lines[first + offset])
      case .rejected(var reject):
        reject.sourceIndex = record.sourceIndex
        if (reject.code, reject.column, reject.reason) == (record.code, record.column, record.reason) {
          try keep(page.lines[first + offset])
          continue
        }
        hasChanged = true
        var text = JSONText()
        RejectLine.write(reject, to: &text)
        try keep(text.bytes.dropLast())
      }
    }
  }

  private func keep(_ line: some Sequence<UInt8>) throws(UpsurgeError) {
    try writeContext()
    try rewrite.append(line + [0x0A])
  }

  /// Writes the line that the records below it are understood by, unless it stands there.
  private func writeContext() throws(UpsurgeError) {
    guard let contextText, rewrite.context != contextText else { return }
    try rewrite.append(Array(contextText.utf8) + [0x0A])
    rewrite.context = contextText
  }

  /// How far the replay has come with the next commit; the new file is on the disk before.
  private func nextMark(
    doneThrough end: ChainedBytes, _ progress: ReplayProgress, isWhole: Bool = false
  ) throws(UpsurgeError) -> ReplayMark {
    try rewrite.sync()
    return ReplayMark(
      path: path, doneByteCount: end.byteCount, doneHash: end.hash,
      keptByteCount: rewrite.written.byteCount, keptHash: rewrite.written.hash, isWhole: isWhole,
      progress: progress.text)
  }

  // MARK: - The end

  /// Puts what is left into the place of the file.
  private mutating func finish() throws(UpsurgeError) {
    if !isContinuing && !hasStored {
      // Nothing is left, or nothing has become of it.
      if !hasChanged { return rewrite.remove() }
      if mark == nil { return try rewrite.takePlace() }
    }
    // All commits are on the disk with it: from here on the file may say so.
    let last = try nextMark(doneThrough: reader.place, progress, isWhole: true)
    try store.writeDurably(last, after: mark)
    mark = last
    try rewrite.takePlace()
  }

  /// Forgets the ledger, which was seen.
  func acknowledge() throws(UpsurgeError) {
    guard let mark else { return }
    try store.transaction { (transaction) throws(UpsurgeError) in
      try transaction.remove(mark)
      try transaction.commit()
    }
  }

  /// Ends a replay that is cut short: what it has stored is marked, and the next one goes on there.
  func leave() {
    if !isContinuing && !hasStored { rewrite.remove() }
  }
}
