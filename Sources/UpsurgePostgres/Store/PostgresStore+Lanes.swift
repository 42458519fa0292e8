import Upsurge
import UpsurgeRecords
import UpsurgeState

/// Several connections for one run: whether there may be, and how they share its records.
extension PostgresStore {
  /// The connections that store the records of a run; nil where it is one. A run that resumes keeps its number: the marks of its
  /// connections are those of their keys.
  func laneSetting(
    of table: TargetTable, _ beginning: Beginning, _ context: StoreContext
  ) throws(UpsurgeError) -> RunPosition.Lanes? {
    let asked = options.transaction.connections
    if let earlier = beginning.resumption {
      let lanes = earlier.position.lanes
      let count = lanes?.count ?? 1
      if count != asked {
        context.note(
          RunNote(
            .info,
            "the run was begun with \(Words.count(UInt64(count), "connection")), and resumes with as many"))
      }
      return lanes
    }
    if asked == 1 || options.output.dryRun != nil { return nil }
    guard table.making == nil, let division = try division(of: table) else {
      context.note(
        RunNote(
          .info,
          "\(.connections, asked) is for a table that is there: a new one is filled over one connection, and gets its key last"
        ))
      return nil
    }
    return RunPosition.Lanes(count: asked, division: division.text)
  }

  /// - Throws: `usage` for a table in which the records of different keys must stay in their order, and where changes are to be told;
  ///   `guardRefused` where a run resumes whose records would be divided otherwise.
  func checkConnections(_ table: TargetTable, _ beginning: Beginning) throws(UpsurgeError) {
    let earlier = beginning.resumption?.position.lanes
    let asked = beginning.resumption == nil ? options.transaction.connections : earlier?.count ?? 1
    guard asked > 1 else { return }
    var hint: Wording = "leave out \(.connections)"
    if earlier != nil {
      hint =
        "make the table what it was when the run began; or delete what that run has stored, and then \(.resume, "never") loads everything"
    }
    // A trial has one connection, and tells what several would change.
    if options.output.changesPath != nil, options.output.dryRun == nil {
      throw UpsurgeError(
        .usage,
        "with \(.connections, asked) records are stored at the same time, and \(.changes) shows their rows in the order of the input",
        hint: "leave out \(.connections), or \(.changes)")
    }
    if options.table.contract == .evolve {
      throw UpsurgeError(
        .usage,
        "with \(.connections, asked) records are stored at the same time, and \(.alter) would change the table between them",
        hint: "add the columns first, or leave out \(.connections)")
    }
    guard let found = table.found else { return }
    if let reason = try objection(to: table, found) {
      throw UpsurgeError(
        .usage,
        "\(.connections, asked) is not for table \(table.name.shown.escapedForTerminal), where records must stay in the order of the "
          + "input: \(reason.escapedForTerminal)",
        hint: hint)
    }
    guard let earlier, try division(of: table)?.text != earlier.division else { return }
    throw UpsurgeError(
      .guardRefused,
      "the run was begun with \(Words.count(UInt64(earlier.count), "connection")) that share records by another key than table "
        + "\(table.name.shown.escapedForTerminal) has now",
      hint: hint)
  }

  /// Why one connection must store all records; nil where several may.
  private func objection(to table: TargetTable, _ found: PostgresTable) throws(UpsurgeError) -> String? {
    if ![.table, .partitioned, .distributed].contains(found.kind) {
      return "it is a view, or on another server"
    }
    guard let key = laneKey(of: table, found) else { return "its records have no key" }
    let names = found.columns.filter(\.isWritable).map(\.name)
    let shape = RecordShape(found, key: key, columns: names, rules: OrderedRules())
    if !shape.hasComparableKey {
      return
        "equal values of the key (\(table.key.words)) may be spelled in several ways, or it is an expression"
    }
    if let trigger = found.triggers.first(where: \.isEnabled) {
      return "the trigger \(trigger.name) may look at other rows"
    }
    if found.isUnlogged { return "it is UNLOGGED, and a crash takes its rows" }
    if let sql = table.given.merge.query { return "the SQL \(sql) has a query, which may look at other rows" }
    if let reason = PathChoice.objection(toReordering: shape) { return reason }
    guard table.deletes, let name = try cascade(from: found) else { return nil }
    return "the foreign key \(name) of another table goes on to rows there when one is deleted"
  }

  /// A foreign key of another table that deletes or changes rows there when a row of this one goes. Such a row may refer to several of
  /// this table, so what becomes of it depends on which one goes first.
  private func cascade(from table: PostgresTable) throws(UpsurgeError) -> String? {
    try session.asking { (connection) throws(PostgresFailure) in
      try connection.run(
        "SELECT conname FROM pg_constraint WHERE contype = 'f' AND confrelid = $1::oid AND confdeltype IN ('c', 'n', 'd') ORDER BY 1",
        [.integer(Int64(table.oid))]
      ).first?.text(0)
    }
  }

  private func laneKey(of table: TargetTable, _ found: PostgresTable) -> PostgresIndex? {
    let plan = RecordPlan(table, found: found)
    if case .future(let names) = table.key {
      return plan.key ?? PostgresIndex(named: "", on: names, of: found)
    }
    return plan.key
  }

  /// How records are divided; nil where they have no key of columns.
  func division(of table: TargetTable) throws(UpsurgeError) -> LaneDivision? {
    guard let found = table.found, var names = laneKey(of: table, found)?.columns else { return nil }
    // What goes to one shard goes over one connection. Each key of a distributed table has that column.
    if let column = try distributionColumn(of: found), names.contains(column) { names = [column] }
    return LaneDivision(names, of: found)
  }
}

/// The columns whose values say over which connection a record goes.
struct LaneDivision {
  let names: [String]
  /// As a run keeps it: how values are hashed, and the columns with their types: the OID, and the length or precision. Where this is
  /// the same, so are the records of each connection.
  let text: String

  init(_ names: [String], of table: PostgresTable) {
    self.names = names
    let columns = names.map { name in
      let column = table.column(name)
      return "\(name) \(column?.baseType ?? 0) \(column?.modifier ?? -1)"
    }
    text = (["\(LaneKeys.version)"] + columns).joined(separator: "\n")
  }
}

extension Merge {
  /// The first SQL that asks for rows; nil where none does.
  fileprivate var query: String? {
    var texts = condition.map { [$0] } ?? []
    for case (_, .expression(let sql)) in columns.sorted(by: { $0.key < $1.key }) { texts.append(sql) }
    return texts.first { sql in
      sql.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "_") }.contains {
        $0 == "select" || $0 == "table"
      }
    }
  }
}
