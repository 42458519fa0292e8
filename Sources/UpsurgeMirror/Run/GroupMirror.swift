import Upsurge
import UpsurgeRecords
import UpsurgeSQLite

/// Brings the tables of a group in step with their feeds, in one transaction.
struct GroupMirror {
  let job: MirrorJob
  let group: TableGroup
  let control: RunControl
  let note: @Sendable (RunNote) -> Void

  /// - Parameters:
  ///   - afterwards: gets what is to be done when the ledgers were seen.
  ///   - judge: is given what became of a table before that is noted; whether the table is tried again by the
  ///     caller, who minds its deadline, too. Without it each table has its own deadline and retries here.
  func run(
    _ afterwards: inout Afterwards, judge: ((inout MirrorSummary.Table) -> Bool)? = nil,
    tick: (RunControl.Progress) -> Void
  ) -> [MirrorSummary.Table] {
    let loads = LoadGroup(
      database: job.database, options: group.tables.map { job.options(of: $0) }, control: control, note: note)
    defer { control.note(table: nil) }
    var turns: [(mirror: TableMirror, turn: TableMirror.Turn)] = []
    var failure: UpsurgeError?
    let mirrors = group.tables.map { table in
      TableMirror(
        job: job, table: table, control: control, note: RunNote.of(table: table.name, to: note), group: loads)
    }
    let ahead = readAhead(mirrors, into: loads.ahead, &afterwards, tick)
    for (index, table) in group.tables.enumerated() {
      let ahead = index < ahead.count ? ahead[index] : TableAhead()
      if control.cancellationSignal != nil { break }
      control.note(table: table.name)
      var mirror = mirrors[index]
      mirror.judge =
        judge ?? { summary in
          if control.isExpired { summary.expire("the job", seconds: job.deadline ?? 0) }
          return false
        }
      var turn = TableMirror.Turn(table)
      if let failure {
        mirror.leaveOut(&turn, because: failure)
      } else if let error = ahead.error {
        mirror.leaveOut(&turn, because: error)
        turn.timeLimit = ahead.timeLimit
      } else {
        read(mirror, &turn, &afterwards, behind: judge == nil ? ahead : nil, tick)
      }
      // Where the caller tries again, all is read again.
      if judge == nil { job.databaseSnapshots?.end(table.name) }
      if job.atomicity == .job, failure == nil { failure = takenBack(because: turn) }
      turns.append((mirror, turn))
    }
    let outcome = loads.finish(
      group.circles.map { $0.map(\.waiting) }, failure: failure)
    return turns.map { (mirror, turn) in
      var (mirror, turn) = (mirror, turn)
      if let seconds = turn.timeLimit {
        let place = "table \(turn.summary.name.escapedForTerminal)"
        mirror.judge = { summary in
          summary.expire(place, seconds: seconds)
          return false
        }
      }
      turn.summary.replayed =
        outcome.replayed.first { SQLName.isSame($0.key, turn.summary.name) }?.value ?? Ledger()
      if let error = outcome.error, error.code != .interrupted, turn.summary.error == nil,
        turn.deliveries.isEmpty, turn.summary.unchangedSince == nil
      {
        turn.summary.error = error
      }
      mirror.end(&turn, &afterwards)
      return turn.summary
    }
  }

  /// What was done for a table before the transaction began.
  private struct TableAhead {
    /// Tries after the first, and the time that they took with it.
    var tryCount = 0
    var seconds = 0.0
    /// Whether the table is kept from other runs.
    var isLocked = false
    /// Why the table's turn is over, and its own deadline where that has ended it.
    var error: UpsurgeError?
    var timeLimit: Double?
  }

  /// Reads what may be slow of several tables, each within its deadline and again where that may help, before the
  /// transaction begins: no other program waits for it.
  private func readAhead(
    _ mirrors: [TableMirror], into feeds: FeedsAhead, _ afterwards: inout Afterwards,
    _ tick: (RunControl.Progress) -> Void
  ) -> [TableAhead] {
    var all: [TableAhead] = []
    if mirrors.count == 1 { return all }
    for mirror in mirrors where control.cancellationSignal == nil {
      control.note(table: mirror.table.name)
      all.append(mirror.mayWait ? readAhead(mirror, into: feeds, &afterwards, tick) : TableAhead())
      // The tables after it are not read.
      if job.atomicity == .job, all.last?.error != nil { break }
    }
    return all
  }

  private func readAhead(
    _ mirror: TableMirror, into feeds: FeedsAhead, _ afterwards: inout Afterwards,
    _ tick: (RunControl.Progress) -> Void
  ) -> TableAhead {
    var ahead = TableAhead()
    let start = MonotonicClock.seconds
    do throws(UpsurgeError) {
      let time = try TableTime(job: job, table: mirror.table, control: control, note: mirror.note)
      defer { time.stop() }
      if job.dryRun == nil {
        do throws(UpsurgeError) {
          if let lock = try mirror.lock() { afterwards.locks.append(lock) }
          ahead.isLocked = true
        } catch {
          // Another run is at work, which the table's turn says.
          return ahead
        }
      }
      var failure = mirror.readAhead(into: feeds, tick)
      while time.hasTry(behind: ahead.tryCount), time.isWorthTrying(failure) {
        ahead.tryCount += 1
        feeds.forget(mirror.table.name)
        guard time.wait(behind: failure, ahead.tryCount, tick) else {
          ahead.error = failure
          return ahead
        }
        failure = mirror.readAhead(into: feeds, tick)
      }
      // What else is wrong with a source is told by the load, which finds it again.
      if let failure, failure.code == .interrupted || failure.code == .cannotCreate {
        (ahead.error, ahead.timeLimit) = (failure, time.ownLimit)
      }
    } catch {
      ahead.error = error
    }
    ahead.seconds = MonotonicClock.seconds - start
    return ahead
  }

  /// Reads a table within its deadline, and again where that may help. What the others have stored is not committed
  /// meanwhile, so that all become visible at once all the same.
  /// - Parameter ahead: nil where the caller minds the deadline and tries again.
  private func read(
    _ mirror: TableMirror, _ turn: inout TableMirror.Turn, _ afterwards: inout Afterwards,
    behind ahead: TableAhead?, _ tick: (RunControl.Progress) -> Void
  ) {
    guard let ahead else { return mirror.read(&turn, &afterwards, tick: tick) }
    do throws(UpsurgeError) {
      let time = try TableTime(
        job: job, table: mirror.table, control: control, spentSeconds: ahead.seconds, note: mirror.note)
      defer { time.stop() }
      let fileCount = afterwards.files.count
      if ahead.isLocked {
        mirror.readAgain(&turn, &afterwards, tick: tick)
      } else {
        mirror.read(&turn, &afterwards, tick: tick)
      }
      var number = ahead.tryCount
      while time.hasTry(behind: number), time.isWorthTrying(turn.failure), mirror.group?.isLost != true {
        number += 1
        let isLocked = mirror.group?.release() == false
        if !time.wait(behind: turn.failure, number, isLocked: isLocked, tick) { return }
        // The next try finds them again.
        afterwards.files.removeSubrange(fileCount...)
        mirror.readAgain(&turn, &afterwards, tick: tick)
      }
      if turn.isInterrupted { turn.timeLimit = time.ownLimit }
    } catch {
      mirror.leaveOut(&turn, because: error)
    }
  }

  /// Why nothing of the job stays, where a table has failed; a guard that keeps rows from being swept does not count.
  private func takenBack(because turn: TableMirror.Turn) -> UpsurgeError? {
    guard var error = turn.failure else { return nil }
    error.message =
      "nothing of the job is stored, as table \(turn.summary.name.escapedForTerminal) has failed (atomic: job)"
    error.hint = "see what is said of that table"
    (error.position, error.snippet) = (nil, nil)
    return error
  }
}

extension MirrorTable {
  /// What is known of the table beside its loads.
  fileprivate var waiting: LoadGroup.Table {
    var column: String?
    if case .soft(let name) = sweep { column = name }
    var table = LoadGroup.Table(
      name: name, softColumn: column, isSynchronizing: options.table.triggers == .guarded,
      keptOwner: localEdits == .keep ? ownedBy ?? "" : nil)
    table.givenSQL = Set(options.rules.expressions)
    return table
  }
}

extension MirrorJob {
  /// A table's options, as far as the job decides them.
  func options(of table: MirrorTable) -> LoadOptions {
    var options = table.options
    options.output.dryRun = dryRun ?? options.output.dryRun
    options.delivery.trailer = table.trailer
    return options
  }
}
