import Upsurge
import UpsurgeInput
import UpsurgeRecords

/// A move of a whole database: what `upsurge move` does.
///
///     var job = MoveJob(source: "shop.db", target: "postgres://anna@db.example.org/shop")
///     let summary = job.run(control: RunControl()) { note in print(note.text) }
package struct MoveJob: Sendable {
  /// A database file, or the URL of a server's database.
  package var source: String
  package var target: String
  /// The schema of the server's database.
  package var schema = "public"
  /// The only tables that move; empty for all.
  package var tables: [String] = []
  package var exceptions: [String] = []
  /// `TABLE.COLUMN:TYPE`.
  package var types: [String] = []
  /// Whether the plan is only made.
  package var isPlanOnly = false
  package var memory = ByteSize.mebibytes(64)
  /// Milliseconds.
  package var busyTimeout: Int32 = 5_000

  package init(source: String, target: String) { (self.source, self.target) = (source, target) }

  /// Moves, or goes on with a move that has not ended; blocks the calling thread.
  package func run(control: RunControl, note: @escaping @Sendable (RunNote) -> Void) -> MoveSummary {
    var summary = MoveSummary(source: SourceName.redacted(source), target: SourceName.redacted(target))
    let start = MonotonicClock.seconds
    do throws(UpsurgeError) {
      let interruption = Interruption()
      let watch = try SignalWatch.begin(control, interruption)
      defer { watch.end() }
      let (from, to) = try ends(interruption)
      let plan = try plan(from, to, control)
      summary.plan = plan
      let run = MoveRun(job: self, plan: plan, source: from, target: to, control: control, note: note)
      if isPlanOnly { try run.check() } else { try run.move(&summary) }
    } catch {
      summary.error = error
    }
    if let signal = control.cancellationSignal, summary.error != nil {
      (summary.signal, summary.error) = (signal, nil)
    }
    summary.seconds = MonotonicClock.seconds - start
    return summary
  }

  /// The larger of what a row may have.
  private var recordByteLimit: Int { min(memory.byteCount / 4, 1_000_000_000) }

  private func ends(_ interruption: Interruption) throws(UpsurgeError) -> (any MoveSource, any MoveTarget) {
    switch (ServerSource.isServer(source), ServerSource.isServer(target)) {
    case (false, true):
      let path = try Self.path(source)
      if path.contains("?query=") {
        throw UpsurgeError(
          .usage, "the path \(path.escapedForTerminal) holds ?query=",
          hint: "give the file another name for the move")
      }
      return (
        SQLiteSource(path, recordByteLimit: recordByteLimit, interruption),
        try PostgresMoveTarget(target, schema: schema, interruption.server)
      )
    case (true, false):
      return (
        try PostgresSource(source, schema: schema, interruption.server),
        SQLiteTarget(
          try Self.path(target), busyTimeout: busyTimeout, recordByteLimit: recordByteLimit, interruption)
      )
    case (false, false):
      throw UpsurgeError(
        .usage, "both databases are files of SQLite, and a move goes from one kind of database to the other",
        hint: "sqlite3 shop.db '.backup copy.db' copies a file of SQLite")
    case (true, true):
      throw UpsurgeError(
        .usage, "both databases are of PostgreSQL, and a move goes from one kind of database to the other",
        hint: "pg_dump copies a database of PostgreSQL: pg_dump -Fc shop | pg_restore -d copy")
    }
  }

  /// The path of a database file, which may be named as a source is.
  private static func path(_ name: String) throws(UpsurgeError) -> String {
    let mark = "sqlite:"
    guard name.hasPrefix(mark), name != mark else { return name }
    if DatabaseSource(name) != nil {
      throw UpsurgeError(
        .usage, "\(name.escapedForTerminal) names rows, and a move takes a database",
        hint: "sqlite:PATH names it, without a table; \(.table, "NAME") moves only some of its tables")
    }
    return String(name.dropFirst(mark.count))
  }

  private func plan(
    _ from: any MoveSource, _ to: any MoveTarget, _ control: RunControl
  ) throws(UpsurgeError) -> MovePlan {
    control.note(stage: .inspecting)
    let rules = try MoveRules(tables: tables, exceptions: exceptions, types: types)
    let task = PlanTask(
      source: from, target: to, schema: schema, rules: rules,
      look: { control.note(stage: .inspecting, work: "looking at \($0)") })
    var plan =
      ServerSource.isServer(target)
      ? try ServerPlanner(task: task).plan() : try FilePlanner(task: task).plan()
    var text = from.place
    for table in plan.tables { text += "\0" + table.creation + "\0" + table.reading }
    for step in plan.finishing { text += "\0" + step.title + "\0" + (step.sql ?? "") }
    plan.identity = Array(text.utf8).withUnsafeBytes { ContentHash.hash($0) }
    return plan
  }
}
