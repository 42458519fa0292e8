/// What became of the records of a replay that are committed: what the replay that goes on reports with its own.
struct ReplayProgress: Equatable {
  /// In the order in which their first records arrived.
  private(set) var tables: [(name: String, progress: RunProgress)] = []

  static func == (a: ReplayProgress, b: ReplayProgress) -> Bool {
    a.tables.elementsEqual(b.tables) { $0 == $1 }
  }

  init() {}

  /// - Throws: `database` for what no replay has written.
  init(_ text: String) throws(UpsurgeError) {
    do throws(UpsurgeError) {
      guard case .array(let list) = try JSONValue(text) else { throw UpsurgeError(.database, "no list") }
      for element in list {
        guard let name = element["table"]?.text, let progress = element["progress"] else {
          throw UpsurgeError(.database, "no table")
        }
        add(try RunText.progress(progress), to: name)
      }
    } catch {
      throw UpsurgeError(
        .database, "the table upsurge_replays holds what no replay has written",
        snippet: String(text.prefix(120)).escapedForTerminal,
        hint:
          "UPDATE upsurge_replays SET progress = NULL forgets what earlier replays have not told; no record is lost"
      )
    }
  }

  var text: String {
    var out = JSONText()
    out.beginArray()
    for (name, progress) in tables {
      out.beginObject()
      out.member("table", name)
      out.key("progress")
      out.literal(RunText.encode(progress))
      out.endObject()
    }
    out.endArray()
    return out.text
  }

  var ledger: Ledger { tables.reduce(into: Ledger()) { $0 += $1.progress.ledger } }

  mutating func add(_ progress: RunProgress, to table: String) {
    guard let index = tables.firstIndex(where: { SQLName.isSame($0.name, table) }) else {
      return tables.append((table, progress))
    }
    tables[index].progress.ledger += progress.ledger
    tables[index].progress.rejectsByReason.merge(progress.rejectsByReason, uniquingKeysWith: +)
    tables[index].progress.warnings.merge(progress.warnings)
  }

  mutating func add(_ other: ReplayProgress) {
    for (name, progress) in other.tables { add(progress, to: name) }
  }

  /// The part about records that have left: those that were rejected again stay, and are tried by the next replay.
  var withoutRejects: ReplayProgress {
    var rest = ReplayProgress()
    for (name, progress) in tables {
      var progress = progress
      progress.ledger = progress.ledger.withoutRejects
      progress.rejectsByReason = [:]
      rest.add(progress, to: name)
    }
    return rest
  }
}

extension Ledger {
  /// The part about records which are not rejected.
  var withoutRejects: Ledger {
    var rest = self
    rest.read -= rejected
    rest.rejected = 0
    return rest
  }

  /// The part about records which the database keeps no more: they are neither rejected nor quarantined.
  var settled: Ledger {
    var rest = withoutRejects
    rest.read -= quarantined
    rest.quarantined = 0
    return rest
  }
}
