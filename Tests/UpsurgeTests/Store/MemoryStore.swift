import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeState

@testable import Upsurge

/// A store in the memory of the test: rows in a dictionary, one record after the other. It is the slow and obvious truth
/// that other stores are compared with, and it can lose its connection, or what it has confirmed, at every commit.
///
/// It knows keys of columns, all modes, rules of merging but SQL, deletes by a tombstone, NULL keys, what a strict table demands,
/// rejects, new columns and the place of a run.
final class MemoryStore: Store, @unchecked Sendable {
  // Sendable because the writing thread alone uses it while a load is at work, and the test before and after.

  /// What happens in the place of a commit.
  enum Fault {
    /// The connection breaks before it: nothing stands.
    case before
    /// The connection breaks after it: all stands, and the run does not know.
    case after
    /// Another server takes over, which lacks so many of the commits before.
    case failover(losing: Int)
  }

  /// All that is committed.
  struct State {
    var tables: [String: MemoryTable] = [:]
    var runs: [RunRecord] = []
    var rejects: [Reject] = []
    var lastRun: Int64 = 0
  }

  var state = State()
  /// What is stored and not committed; nil where no transaction is open.
  var working: State?
  /// Decides what happens to the commit of this number, the first one being 1.
  var fault: (Int) -> Fault? = { _ in nil }
  private(set) var commitCount = 0
  /// The states that a server may have which takes over, the last one at the end.
  private var replicated = [State()]

  let place = "memory"

  func openRuns(of table: String) -> [RunRecord] { state.runs.filter { SQLName.isSame($0.job.table, table) } }

  func hasLostRows(of run: RunRecord) -> Bool { state.tables[SQLName.folded(run.job.table)]?.rows.isEmpty ?? true }

  func table(for input: LoadInput, options: LoadOptions) throws(UpsurgeError) -> StoredTable? {
    let name = input.runJob.table
    let source = input.beginning.source
    var table = (working ?? state).tables[SQLName.folded(name)]
    let wasMade = input.beginning.resumption?.position.madeTable ?? false
    if table == nil {
      // What says that a record is a delete is none of the table.
      let mark = options.rules.tombstone?.column ?? ""
      let inferred = try source.inferColumnsOfNewTable(options: options).filter { !SQLName.isSame($0.name, mark) }
      table = MemoryTable(
        columns: inferred.map { MemoryTable.Column(name: $0.name, affinity: $0.type.affinity) }, key: options.rules.key)
      begin()
      working?.tables[SQLName.folded(name)] = table
    }
    guard let table else { return nil }
    let isNew = wasMade || working != nil
    let targets = table.columns.map { column in
      let isKey = table.key.contains { SQLName.isSame($0, column.name) }
      let policy: ColumnTarget.SpellingPolicy = isNew ? isKey ? .newKey : .reject : isKey ? .key : .warn
      return ColumnTarget(name: column.name, affinity: column.affinity, spellingPolicy: policy)
    }
    let facts = TableFacts(
      name: name, isNew: isNew, columns: isNew ? [] : targets, addsColumns: isNew || options.table.contract == .evolve)
    var columns = ColumnRegistry(isNew || source.isJSON ? targets : [])
    if let tombstone = options.rules.tombstone?.column, !targets.contains(where: { SQLName.isSame($0.name, tombstone) }) {
      columns.add(ColumnTarget(name: tombstone, affinity: .none, spellingPolicy: .warn))
    }
    _ = try source.makeParser(columns: &columns, table: facts, options: options)
    return StoredTable(facts: facts, columns: columns, key: table.key, rules: options.rules)
  }

  func setUp(_ table: inout StoredTable, for input: LoadInput) {}

  func explain(_ table: StoredTable, for input: LoadInput) -> String { "in memory" }

  func begin(
    _ table: StoredTable, for input: LoadInput, from beginning: Beginning, _ context: StoreContext
  ) -> MemoryTransfer {
    MemoryTransfer(self, table, input, beginning, context)
  }

  func takeBack() { working = nil }

  func ending(of run: RunRecord) -> RunEnding? {
    RunEnding { [self] (_) throws(UpsurgeError) in state.runs.removeAll { $0.id == run.id } }
  }

  // MARK: - Transactions

  func begin() { if working == nil { working = state } }

  func rollBack() { working = nil }

  func commit() throws(UpsurgeError) {
    commitCount += 1
    let fault = fault(commitCount)
    switch fault {
    case .before: break
    case .failover(let lost): state = replicated[max(0, replicated.count - 1 - lost)]
    case .after, nil: if let working { state = working }
    }
    working = nil
    replicated.append(state)
    switch fault {
    case .failover: throw UpsurgeError(.commitsLost, "commits are lost")
    case .before, .after: throw UpsurgeError(.connectionLost, "the connection has broken")
    case nil: break
    }
  }

  /// No server lacks what is committed by now.
  func replicate() { replicated = [state] }
}

struct StoredTable: StoreTable {
  let facts: TableFacts
  let columns: ColumnRegistry
  let key: [String]
  let rules: UpsertRules

  var knownColumns: [ColumnTarget] { columns.targets }
  var primaryKeyColumns: [String] { key }
  var keyColumns: [String] { key }
  var mode: WriteMode { rules.mode ?? (key.isEmpty ? .insert : .upsert) }

  func rules(for columns: [ColumnTarget]) -> UpsertRules { rules }
  func mayInsertAnew(options: LoadOptions) -> Bool { key.isEmpty }
  func repetition(options: LoadOptions) -> RunSummary.Repetition? { key.isEmpty ? .store : nil }
}
