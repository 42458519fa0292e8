import Upsurge
import UpsurgeBench
import UpsurgePostgres
import UpsurgeRecords

/// One benchmark of a server at work: the rows, and the runs.
struct ServerBenchRun {
  private(set) var report: ServerBenchReport
  private let job: ServerBenchJob
  private let folder: ScratchFolder
  private let control: RunControl
  private var server: BenchServer
  private let contenders = ServerContender.all
  private var rounds: BenchRounds
  /// How many rows are stored row by row.
  private let partCount: Int

  /// Seconds that storing row by row may wait for answers.
  private static let secondsOfParts = 1.0
  private static let mostRowsOfParts = 20_000
  private static let leastRowsOfParts = 100

  /// Makes the rows, and brings them to the server.
  init(
    job: ServerBenchJob, folder: ScratchFolder, server: BenchServer, control: RunControl
  ) throws(UpsurgeError) {
    (self.job, self.folder, self.server, self.control) = (job, folder, server, control)
    rounds = BenchRounds(job.roundCount, contenderCount: contenders.count)
    let rowCount = job.rowCount ?? ServerBenchJob.defaultRowCount
    var byteCount = 0
    for delivery in BenchDelivery.allCases {
      _ = try delivery.rows(rowCount).write(to: folder, delivery.fileName) { control.cancellationSignal != nil }
      let text = try folder.bytes(of: delivery.fileName)
      if delivery == .first { byteCount = text.count }
      try server.keep(delivery, text)
    }
    let answers = Self.secondsOfParts / max(server.facts.roundTripSeconds, 1e-6)
    let most = min(Int(min(answers, Double(Self.mostRowsOfParts))), Int(rowCount))
    partCount = max(most, min(Self.leastRowsOfParts, Int(rowCount)))
    report = ServerBenchReport(
      rowCount: rowCount, inputByteCount: UInt64(byteCount), server: server.facts,
      machine: MachineFacts(folder: folder.path))
    report.command = job.command.map(\.quotedForShell).joined(separator: " ")
    for contender in contenders { report.add(contender, partCount: partCount) }
    report.noteFacts(otherSchemas: try server.otherSchemas())
  }

  /// Runs all contenders in turn, each time in another order.
  mutating func measure(progress: (BenchJob.Progress) -> Void) throws(UpsurgeError) {
    let roundCount = rounds.count
    for round in 0..<roundCount {
      guard let indices = rounds.contenders(of: round) else { break }
      for index in indices where report.entries[index].figures.absence == nil && !rounds.hasSpent(index) {
        let contender = contenders[index]
        progress(
          BenchJob.Progress(
            round: round + 1, roundCount: roundCount, contender: "\(contender.suite.title): \(contender.name)"))
        try measure(index)
      }
    }
    report.noteRuns(roundCount: roundCount, server.meter)
  }

  /// One run: the table that it begins with, the time, what it cost the server, and the comparison.
  private mutating func measure(_ index: Int) throws(UpsurgeError) {
    let contender = contenders[index]
    let text = contender.way == .upsurge ? [] : try folder.bytes(of: contender.suite.delivery.fileName)
    try server.prepare(for: contender.suite)
    let start = try server.logPosition()
    let seconds: Double
    do throws(UpsurgeError) {
      let watch = Stopwatch()
      try store(text, by: contender)
      seconds = watch.seconds
    } catch {
      try checkCancellation()
      // What is wrong with the engine or with the server is no matter of one contender.
      if contender.way == .upsurge || error.code == .connectionLost || error.code == .databaseBusy { throw error }
      report.entries[index].figures.absence = .init(isFailure: true, reason: "it failed: \(saying: error.said)")
      return
    }
    try checkCancellation()
    rounds.add(seconds, to: index)
    let end = try server.logPosition()
    let deadRows = try server.deadRows()
    let rowLimit = contender.way == .prepared ? partCount : nil
    if let difference = try server.difference(of: contender, rowLimit: rowLimit) {
      report.entries[index].figures.absence = .init(
        isFailure: true, reason: "its table is another one, so its time does not count: \(difference)")
      return
    }
    report.entries[index].figures.runs.append(seconds)
    if let start, let end { report.entries[index].logByteCounts.append(max(end - start, 0)) }
    if let deadRows { report.entries[index].deadRowCounts.append(deadRows) }
  }

  private func store(_ text: [UInt8], by contender: ServerContender) throws(UpsurgeError) {
    if contender.way == .upsurge { return try load(contender.suite.delivery) }
    do throws(PostgresFailure) {
      try server.hand.store(text, by: contender.way, rowLimit: partCount)
    } catch {
      throw server.error(error)
    }
  }

  private func load(_ delivery: BenchDelivery) throws(UpsurgeError) {
    var options = job.options
    options.rules.key = ["id"]
    let summary = LoadJob(
      database: server.url, table: server.schema.table, sources: [folder.file(delivery.fileName)], options: options
    ).run(control: control)
    try checkCancellation()
    if let error = summary.error { throw error }
  }

  private func checkCancellation() throws(UpsurgeError) {
    if control.cancellationSignal != nil { throw UpsurgeError(.interrupted, "the benchmark was interrupted") }
  }
}
