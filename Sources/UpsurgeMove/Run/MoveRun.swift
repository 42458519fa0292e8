import Upsurge
import UpsurgeInput
import UpsurgeRecords
import UpsurgeState

/// One run of a move: makes the tables, moves their rows, adds keys and indexes, and compares both sides.
///
///     begin      all tables and the move's own state, in one transaction
///     rows       table by table, by the engine's own load; those that are stored already are passed over
///     steps      keys, indexes, foreign keys, numbering: a transaction each
///     compare    a digest of each table on both sides
struct MoveRun {
  let job: MoveJob
  let plan: MovePlan
  let source: any MoveSource
  let target: any MoveTarget
  let control: RunControl
  let note: @Sendable (RunNote) -> Void
  /// Says that this process is at work, as long as the run lasts.
  private let owner = RunOwner()

  init(
    job: MoveJob, plan: MovePlan, source: any MoveSource, target: any MoveTarget, control: RunControl,
    note: @escaping @Sendable (RunNote) -> Void
  ) {
    (self.job, self.plan, self.source, self.target) = (job, plan, source, target)
    (self.control, self.note) = (control, note)
  }

  func move(_ summary: inout MoveSummary) throws(UpsurgeError) {
    var state = try begun(&summary)
    summary.hasCommitted = true
    for table in plan.tables {
      var result = MoveSummary.Table(name: table.name)
      if !state.isFilled(table.name) {
        let start = MonotonicClock.seconds
        try fill(table)
        try state.noteFilled(table.name)
        result.seconds = MonotonicClock.seconds - start
      }
      summary.tables.append(result)
    }
    try forgetRuns()
    try finish(&state)
    summary.refusals = state.refusals
    for index in plan.tables.indices { try compare(plan.tables[index], &summary.tables[index]) }
    if !state.isDone { try state.note("done", "compared") }
    summary.isVerified = true
  }

  // MARK: - The beginning

  /// Makes what is not there, or finds how far an earlier run has come.
  private func begun(_ summary: inout MoveSummary) throws(UpsurgeError) -> MoveState {
    var state = try checkedState()
    if !state.isDone, let pid = state.livePID {
      throw UpsurgeError(
        .guardRefused, "this move is at work already, as process \(pid)",
        hint: "wait until it has ended, or end it: it resumes")
    }
    if state.isBegun {
      summary.wasDone = state.isDone
      if !state.isDone {
        note(RunNote(.info, "resumes a move of \(source.shown) that has not ended"))
        try state.note("owner", owner.text)
      }
      return state
    }
    let beginning = state.beginning(source: source.place)
    try state.note("owner", owner.text, beside: plan.preparation + beginning + plan.tables.map(\.creation))
    return state
  }

  /// Looks whether the target has a place for the tables; writes nothing.
  /// - Throws: `guardRefused` where something has the name of one of them.
  func check() throws(UpsurgeError) { _ = try checkedState() }

  private func checkedState() throws(UpsurgeError) -> MoveState {
    let taken = try target.takenNames(besides: [])
    let isThere = taken.contains { SQLName.isSame($0, MoveTables.state) }
    let state = try MoveState(plan, in: target, isThere: isThere)
    if state.isBegun { return state }
    for table in plan.tables where taken.contains(where: { SQLName.isSame($0, table.name) }) {
      throw try refusal(of: table.name, state, isThere: isThere)
    }
    return state
  }

  private func refusal(of table: String, _ state: MoveState, isThere: Bool) throws(UpsurgeError)
    -> UpsurgeError
  {
    let name = table.escapedForTerminal
    let others = isThere ? try state.otherSources() : []
    if others.contains(source.place) {
      return UpsurgeError(
        .guardRefused, "\(target.shown) has \(name) of an earlier move whose tables or options were others",
        hint:
          "bring the options back as they were; or drop the tables of that move, and \(MoveTables.state), and move again"
      )
    }
    return UpsurgeError(
      .guardRefused, "\(target.shown) has something of the name \(name) that is not of this move",
      hint: "drop it there; or leave the table out: \(.except, table.quotedForShell)")
  }

  // MARK: - Rows

  private func fill(_ table: PlannedTable) throws(UpsurgeError) {
    control.note(table: table.name)
    let place = target.quotedName(of: table.name)
    var count = try target.settledCount(of: table.name)
    if count > 0, !table.isOrdered {
      // Nobody can say which rows these are.
      try target.change(["DELETE FROM \(place)"])
      count = 0
    }
    if count > 0 {
      note(RunNote(.info, "\(table.name): \(Words.count(count, "row")) are there already"))
    }
    let limit = plan.direction == .toServer ? " LIMIT -1 OFFSET \(count)" : " OFFSET \(count)"
    let reading = table.reading + (count > 0 ? limit : "")
    if try source.rows("SELECT 1 FROM (\(reading)) AS rest LIMIT 1").isEmpty { return }
    let load = LoadJob(
      database: target.database, table: target.loadName(of: table.name), sources: [source.source(reading)],
      options: options)
    let summary = load.run(control: control, note: RunNote.of(table: table.name, to: warnings))
    if let error = summary.error {
      var error = error
      error.said = "table \(table.name.escapedForTerminal): \(saying: error.said)"
      throw error
    }
    if summary.signal != nil { throw UpsurgeError(.interrupted, "interrupted") }
  }

  /// What a load says of itself is of no use here, but for warnings.
  private var warnings: @Sendable (RunNote) -> Void {
    { [note] said in if said.level == .warning { note(said) } }
  }

  private var options: LoadOptions {
    var options = LoadOptions()
    options.rules.mode = .insert
    options.table.createsTable = false
    // Rows come table by table, so a key may be there before the row that it refers to.
    if plan.direction == .toFile { options.table.initSQL = "PRAGMA foreign_keys=OFF" }
    options.transaction.resume = .never
    options.transaction.direct = .never
    options.transaction.memory = job.memory
    options.transaction.busyTimeout = job.busyTimeout
    source.share(with: &options)
    return options
  }

  /// Loads that were killed have left their mark, and the move knows better.
  private func forgetRuns() throws(UpsurgeError) {
    // Where no table has rows, there was no load.
    if plan.direction == .toServer, plan.tables.allSatisfy({ $0.rowCount == 0 }) { return }
    let names = Set(plan.tables.map { target.loadName(of: $0.name) })
    for run in try PastRun.all(database: target.database)
    where names.contains(run.table) && [.stopped, .unseen].contains(run.state) {
      try PastRun.forget(run.id, database: target.database, busyTimeout: job.busyTimeout)
    }
  }

  // MARK: - What comes after the rows

  private func finish(_ state: inout MoveState) throws(UpsurgeError) {
    for (index, step) in plan.finishing.enumerated() where index >= state.stepCount {
      try checkInterruption()
      control.note(stage: .indexing, work: step.title)
      let statements = try statements(of: step)
      do throws(UpsurgeError) {
        try state.noteStep(index + 1, statements)
      } catch {
        // Without a plain index the move is as good, and slower to read.
        guard step.isOptional, error.code == .database else { throw error }
        note(RunNote(.warning, "\(step.title) was refused: \(error.message)"))
        try state.noteRefusal(step.title, error.message, step: index + 1)
      }
    }
  }

  private func statements(of step: MoveStep) throws(UpsurgeError) -> [String] {
    switch step.work {
    case .statement(let sql): return [sql]
    case .numbering(let table, let column):
      return try Numbering(table: table, column: column, of: self).statements()
    }
  }

  // MARK: - Both sides compared

  private func compare(_ table: PlannedTable, _ result: inout MoveSummary.Table) throws(UpsurgeError) {
    control.note(stage: .inspecting, work: "comparing \(table.name)")
    let from = try digest { (send) throws(UpsurgeError) in try source.lines(table.comparedSource, to: send) }
    let to = try digest { (send) throws(UpsurgeError) in try target.lines(table.comparedTarget, to: send) }
    (result.rowCount, result.byteCount) = (to.rowCount, to.byteCount)
    if from == to {
      result.digest = to.text
      return
    }
    throw UpsurgeError(
      .guardRefused,
      "\(table.name.escapedForTerminal) is not the same on both sides: \(Words.count(from.rowCount, "row")) with digest \(from.text) in "
        + "\(source.shown), \(Words.count(to.rowCount, "row")) with digest \(to.text) in \(target.shown)",
      hint:
        "where a program has written one of them meanwhile: drop the tables of the move and \(MoveTables.state) in the target, and move again"
    )
  }

  private func digest(
    _ read: (([UInt8]) -> Bool) throws(UpsurgeError) -> Void
  ) throws(UpsurgeError) -> RowDigest {
    var digest = RowDigest()
    try read { piece in
      digest.add(piece)
      return control.cancellationSignal == nil
    }
    try checkInterruption()
    return digest
  }

  private func checkInterruption() throws(UpsurgeError) {
    if control.cancellationSignal != nil { throw UpsurgeError(.interrupted, "interrupted") }
  }
}

/// Numbers new rows after the last one that was moved, or was ever numbered.
private struct Numbering {
  private let table: String
  private let column: String
  private let run: MoveRun

  init(table: String, column: String, of run: MoveRun) {
    (self.table, self.column, self.run) = (table, column, run)
  }

  func statements() throws(UpsurgeError) -> [String] {
    let place = run.target.quotedName(of: table)
    let stored =
      try run.target.rows("SELECT max(\(column.quotedAsName)) FROM \(place)")[0][0].flatMap { Int64($0) } ?? 0
    let last = max(try numbered() ?? 0, stored)
    switch run.plan.direction {
    case .toServer:
      let sequence = "pg_get_serial_sequence(\(place.quotedAsText), \(column.quotedAsText))"
      return last < 1 ? [] : ["SELECT setval(\(sequence), \(last))"]
    case .toFile:
      return [
        "DELETE FROM sqlite_sequence WHERE name = \(table.quotedAsText)",
        "INSERT INTO sqlite_sequence (name, seq) VALUES (\(table.quotedAsText), \(last))",
      ]
    }
  }

  /// The last number that the source has given.
  private func numbered() throws(UpsurgeError) -> Int64? {
    switch run.plan.direction {
    case .toServer:
      if try run.source.rows("SELECT 1 FROM main.sqlite_schema WHERE name = 'sqlite_sequence'").isEmpty {
        return nil
      }
      return try run.source.rows("SELECT seq FROM main.sqlite_sequence WHERE name = \(table.quotedAsText)")
        .first?[0].flatMap { Int64($0) }
    case .toFile:
      let place = "\(run.job.schema.quotedAsName).\(table.quotedAsName)"
      let name = "pg_get_serial_sequence(\(place.quotedAsText), \(column.quotedAsText))"
      guard let sequence = try run.source.rows("SELECT \(name)").first?[0] else { return nil }
      let rows = try run.source.rows(
        "SELECT last_value - CASE WHEN is_called THEN 0 ELSE 1 END FROM \(sequence)")
      return rows.first?[0].flatMap { Int64($0) }
    }
  }
}
