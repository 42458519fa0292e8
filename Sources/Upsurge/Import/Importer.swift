/// Imports records into a table, as `upsurge load` does, from a program's task.
///
///     var options = LoadOptions()
///     options.rules.target = .columns(["id"])
///     let importer = Importer(database: "app.db", table: "orders", from: ["orders.csv.zst"], options: options)
///     for await event in importer.events() {
///       switch event {
///       case .progress(let progress): show(progress.records)
///       case .note(let note): log(note.text)
///       case .ended(let summary): print(summary.ledger.inserted, summary.error?.message ?? "")
///       }
///     }
///
/// The work is done by threads of its own, never by those of Swift's tasks.
public struct Importer: Sendable {
  /// Something that has happened.
  public enum Event: Sendable {
    /// How far it is; about ten times a second.
    case progress(RunControl.Progress)
    /// Something that people want to know.
    case note(RunNote)
    /// What became of all; the last event.
    case ended(RunSummary)
  }

  /// What is done: database, table, names of sources, options.
  public private(set) var job: LoadJob

  private static let keptEventCount = 1_024

  /// - Parameters:
  ///   - database: path of the SQLite database.
  ///   - table: the table's name; it is made where it is missing.
  ///   - sources: in the order in which they are read.
  ///   - options: as of `upsurge load`.
  ///   - parser: makes records of the bytes of each source; nil reads them as CSV, TSV, NDJSON or JSON.
  public init(
    database: String, table: String, from sources: [ImportSource], options: LoadOptions = LoadOptions(),
    parser: (any FormatParser)? = nil
  ) {
    var options = options
    options.environment.parser = parser
    var named: [Source] = []
    for source in sources {
      let own: OwnSource
      switch source {
      case .named(let name):
        named.append(Source(name))
        continue
      case .bytes(let producer): own = .bytes(producer)
      case .records(let producer): own = .records(producer)
      }
      var program = Source(program: own.name)
      if options.environment.ownSources[program.name] != nil {
        program = Source(program: "\(own.name)#\(named.count + 1)")
      }
      options.environment.ownSources[program.name] = own
      named.append(program)
    }
    job = LoadJob(database: database, table: table, sources: named, options: options)
  }

  /// Imports everything, and waits for the end.
  ///
  /// A task that is cancelled ends the import at a commit; the same import goes on there, where its sources can be read again.
  /// - Returns: what became of the records; a failure is its `error`.
  public func run() async -> RunSummary {
    await run { _ in }
  }

  /// Imports everything, and reports what happens meanwhile. An iteration that ends early ends the import at a commit. Of one
  /// that is too slow, only the newest 1,024 events are kept; the last one is never lost.
  public func events() -> AsyncStream<Event> {
    let (stream, events) = AsyncStream.makeStream(
      of: Event.self, bufferingPolicy: .bufferingNewest(Self.keptEventCount))
    let task = Task {
      let summary = await run { events.yield($0) }
      events.yield(.ended(summary))
      events.finish()
    }
    events.onTermination = { _ in task.cancel() }
    return stream
  }

  private func run(_ tell: @escaping @Sendable (Event) -> Void) async -> RunSummary {
    let control = RunControl()
    let job = job
    return await withTaskCancellationHandler {
      await withCheckedContinuation { (end: CheckedContinuation<RunSummary, Never>) in
        let work: @Sendable () -> Void = {
          end.resume(
            returning: job.run(control: control, note: { tell(.note($0)) }, tick: { tell(.progress($0)) }))
        }
        // A system without a thread for it has none for the run either, whose summary says so.
        do throws(UpsurgeError) { _ = try WorkerThread(work) } catch { work() }
      }
    } onCancel: {
      control.cancel()
    }
  }
}
