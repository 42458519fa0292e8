import Upsurge
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// One benchmark at work: the rows, the table that all must equal, and the runs.
struct BenchRun {
  let job: BenchJob
  let folder: ScratchFolder
  let control: RunControl
  private(set) var report: BenchReport
  let input: BenchInput
  private let contenders: [BenchContender]
  private var rounds: BenchRounds
  private var programs: [BenchPeer: String] = [:]

  /// Makes the rows, loads them once without counting, and reads what all tables must equal.
  init(job: BenchJob, folder: ScratchFolder, control: RunControl) throws(UpsurgeError) {
    self.job = job
    self.folder = folder
    self.control = control
    contenders = BenchContender.all(of: job)
    rounds = BenchRounds(job.roundCount, contenderCount: contenders.count)
    let machine = MachineFacts(folder: folder.path)
    input = try BenchInput(job: job, folder: folder, control: control)
    let rowCount = UInt64(input.rows.count)
    let source = job.file.map { "\(Words.count(rowCount, "row")) of \($0)" }
    report = BenchReport(
      suite: job.suite,
      input: source ?? "\(Words.count(rowCount, "generated row")) of \(input.rows.columnNames.count) columns",
      rowCount: rowCount, inputByteCount: input.byteCount, machine: machine, sqlite: try SQLiteFacts())
    report.settings = input.settingWords
    report.entries = contenders.map {
      BenchReport.Entry(name: $0.name, detail: $0.detail, kind: $0.kind)
    }
    report.commands = [job.command.map(\.quotedForShell).joined(separator: " ")]
    report.notes = notes(machine)
    try findPeers()
  }

  /// Runs all contenders in turn, each time in another order.
  mutating func measure(progress: (BenchJob.Progress) -> Void) throws(UpsurgeError) {
    let roundCount = rounds.count
    for round in 0..<roundCount {
      guard let indices = rounds.contenders(of: round) else { break }
      for index in indices where report.entries[index].absence == nil && !rounds.hasSpent(index) {
        progress(
          BenchJob.Progress(round: round + 1, roundCount: roundCount, contender: contenders[index].name))
        try measure(index)
      }
    }
    let isShort = report.entries.contains { $0.absence == nil && $0.runs.count < roundCount }
    if isShort {
      report.notes.append(
        "not all was run \(roundCount) times, so that it does not take too long; \(.rounds, "N") runs everything N times"
      )
    }
    if report.entries.contains(where: \.isNoisy) {
      report.notes.append(
        "noisy: the runs spread over more than 10 %; let the machine rest, and run again with more \(.rounds)"
      )
    }
  }

  /// One run: a database of its own, the time, and the table's comparison.
  private mutating func measure(_ index: Int) throws(UpsurgeError) {
    defer { folder.removeDatabase(BenchInput.runName) }
    folder.removeDatabase(BenchInput.runName)
    if let base = input.baseName { try folder.copy(base, to: BenchInput.runName) }
    let seconds: Double
    do throws(UpsurgeError) {
      seconds = try run(contenders[index])
    } catch {
      try checkCancellation()
      if case .upsurge = contenders[index].way { throw error }
      report.entries[index].absence = .init(isFailure: true, reason: "it failed: \(saying: error.said)")
      return
    }
    try checkCancellation()
    rounds.add(seconds, to: index)
    if let difference = try input.difference(of: BenchInput.runName) {
      report.entries[index].absence = .init(
        isFailure: true,
        reason: "its table is not the one of upsurge load, so its time does not count: \(saying: difference)")
      return
    }
    report.entries[index].runs.append(seconds)
  }

  private func checkCancellation() throws(UpsurgeError) {
    if control.cancellationSignal != nil {
      throw UpsurgeError(.interrupted, "the benchmark was interrupted")
    }
  }

  private func run(_ contender: BenchContender) throws(UpsurgeError) -> Double {
    switch contender.way {
    case .upsurge: return try input.load(into: BenchInput.runName, control: control)
    case .plain(let pattern, let isUpsert):
      let watch = Stopwatch()
      try input.write(pattern, isUpsert: isUpsert, control: control)
      return watch.seconds
    case .peer(let peer): return try run(peer)
    }
  }

  // MARK: - Peers

  /// Finds the programs, and says of those that are missing or cannot take part why.
  private mutating func findPeers() throws(UpsurgeError) {
    for (index, contender) in contenders.enumerated() {
      guard case .peer(let peer) = contender.way else { continue }
      if let program = ChildProcess.find(peer.rawValue, path: job.peerPath) {
        programs[peer] = program
        if let obstacle = peer.obstacle(suite: job.suite, key: job.key) ?? input.peerObstacle {
          report.entries[index].absence = .init(isFailure: false, reason: obstacle)
          continue
        }
        report.notes.append("\(peer.rawValue): \(peer.settings)")
        if let absence = try prepare(peer, program) {
          report.entries[index].absence = absence
        } else {
          report.commands.append(try commandLine(peer))
        }
      } else {
        report.entries[index].absence = .init(
          isFailure: false, reason: "not installed: there is no program \(peer.rawValue) on the PATH")
      }
    }
  }

  /// Lets a program fetch what it needs before it is measured, and notes its version.
  /// - Returns: why it cannot be measured.
  private mutating func prepare(
    _ peer: BenchPeer, _ program: String
  ) throws(UpsurgeError) -> BenchReport.Absence? {
    let version = try runChild([program, "--version"])
    if version.exitCode != 0 {
      return .init(isFailure: true, reason: "it failed: \(Self.firstLine(version))")
    }
    report.notes.append("\(peer.rawValue) is \(Self.firstLine(version))")
    guard peer == .duckdb else { return nil }
    let extended = try runChild([program, "-batch", "-bail", "-c", "INSTALL sqlite; LOAD sqlite;"])
    if extended.exitCode == 0 { return nil }
    return .init(
      isFailure: false, reason: "its sqlite extension cannot be installed: \(Self.firstLine(extended))")
  }

  private func run(_ peer: BenchPeer) throws(UpsurgeError) -> Double {
    let command = try peer.command(task(peer))
    if peer.needsTable && input.baseName == nil { try input.makeTable() }
    let outcome = try runChild(command.words, input: command.input)
    if outcome.exitCode != 0 {
      throw UpsurgeError(.database, "exit code \(outcome.exitCode): \(Self.firstLine(outcome))")
    }
    if access(folder.file(BenchInput.runName), F_OK) != 0 {
      throw UpsurgeError(.database, "it ended with 0 and has made no database")
    }
    let watch = Stopwatch()
    try input.emptyLog()
    return outcome.seconds + watch.seconds
  }

  private func task(_ peer: BenchPeer) -> BenchPeer.Task {
    BenchPeer.Task(
      program: programs[peer] ?? peer.rawValue, database: folder.file(BenchInput.runName),
      table: BenchInput.table,
      createSQL: input.createSQL, columns: input.columns, key: job.key,
      csv: input.path.hasPrefix("/") ? input.path : "./" + input.path,
      isUpsert: input.baseName != nil, pageByteCount: input.pageByteCount,
      cacheByteCount: input.cacheByteCount)
  }

  /// A program's command line, with the scratch folder called DIR.
  private func commandLine(_ peer: BenchPeer) throws(UpsurgeError) -> String {
    let command = try peer.command(task(peer))
    var line = command.words.map(\.quotedForShell).joined(separator: " ")
    if let input = command.input { line += " <<'END'\n\(input)END" }
    return line.split(separator: folder.path, omittingEmptySubsequences: false).joined(separator: "DIR")
  }

  private func runChild(_ words: [String], input: String? = nil) throws(UpsurgeError) -> ChildProcess.Outcome
  {
    let control = control
    return try ChildProcess.run(words, input: input, in: folder) { control.cancellationSignal != nil }
  }

  private static func firstLine(_ outcome: ChildProcess.Outcome) -> String {
    let line = outcome.talk.split(separator: "\n").first.map(String.init) ?? "it said nothing"
    return String(line.escapedForTerminal.prefix(300))
  }

  // MARK: - Words

  private func notes(_ machine: MachineFacts) -> [Wording] {
    var notes: [Wording] = [
      "all begin with a new database file, and end after the last checkpoint; each table was compared with that of "
        + "upsurge load by row count, columns and digest before its time counted"
    ]
    #if DEBUG
      notes.append(
        "this is a debug build: its figures mean nothing; swift build -c release makes one to measure with")
    #endif
    if machine.isInMemory {
      notes.append(
        "the scratch folder is in memory (\(machine.fileSystem)); \(.scratch, "DIR") names one on the disk that counts"
      )
    }
    if machine.isBusy {
      notes.append(
        "other programs were at work: the load was \(BenchReport.decimal(machine.load, digits: 1)) on "
          + "\(machine.coreCount) cores when it began")
    }
    if !job.peers.isEmpty {
      notes.append(
        "other programs are processes of their own, whose start counts; upsurge load runs in this one")
    }
    return notes
  }
}
