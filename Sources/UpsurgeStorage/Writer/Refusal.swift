import CSQLite
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

extension Reject.Code {
  /// An expression failed on the record: of the schema (generated column, index, CHECK), of a computed column, or of the filter.
  public static let expression = Reject.Code(rawValue: "expression")
}

/// Why SQLite did not take a row.
struct Refusal {
  /// The extended result code.
  var code: Int32
  var message: String

  /// Whether it is the row's own fault, so that the run may go on without it.
  var concernsRecord: Bool {
    isConstraint || [SQLITE_TOOBIG, SQLITE_ERROR].contains(ResultCode.primary(code))
  }

  var isConstraint: Bool { [SQLITE_CONSTRAINT, SQLITE_MISMATCH].contains(ResultCode.primary(code)) }

  /// Whether SQLite says so of the row that would be inserted, before it looks whether there is one to be updated.
  static func comesBeforeConflict(_ code: Int32) -> Bool {
    [ResultCode.constraintNotNull, ResultCode.constraintCheck, ResultCode.constraintDatatype].contains(code)
      || ResultCode.primary(code) == SQLITE_MISMATCH
  }

  /// Whether a statement with OR FAIL stops exactly at the row, with those before it stored.
  var isPinned: Bool {
    [
      ResultCode.constraintUnique, ResultCode.constraintPrimaryKey, ResultCode.constraintRowid,
      ResultCode.constraintNotNull, ResultCode.constraintCheck,
    ].contains(code)
  }

  /// The word, the columns and the sentence for the operator.
  /// - Parameter isDelete: whether the record was to delete its row.
  func explained(
    _ plan: UpsertPlan, isDelete: Bool = false
  ) -> (code: Reject.Code, column: String?, reason: String, hint: Wording?) {
    let table = plan.schema.name.escapedForTerminal
    switch code {
    case ResultCode.constraintUnique, ResultCode.constraintPrimaryKey, ResultCode.constraintRowid:
      return unique(plan, table: table)
    case ResultCode.constraintNotNull:
      let column = plan.schema.columns.first { says("NOT NULL", plan.schema.name + "." + $0.name) }?.name
      let name = column?.escapedForTerminal ?? detail
      return (
        .notNull, column, "column \(name) of table \(table) is NOT NULL and the record has no value for it",
        isPart(column, plan) ? Wording("\(.mode, "update") changes only rows that exist", call: "update changes only rows that exist") : nil
      )
    case ResultCode.constraintCheck:
      return (.check, nil, "the record breaks the CHECK of table \(table): \(detail)", nil)
    case ResultCode.constraintForeignKey:
      return isDelete ? references(plan, table: table) : foreignKey(plan, table: table)
    case ResultCode.constraintDatatype:
      let column = plan.schema.columns.first { message.hasSuffix(" \(plan.schema.name).\($0.name)") }?.name
      return (.typeMismatch, column, "table \(table) is STRICT: \(message.escapedForTerminal)", nil)
    case ResultCode.constraintTrigger:
      return (.trigger, nil, "a trigger refused the record: \(message.escapedForTerminal)", nil)
    default:
      return other(plan, table: table)
    }
  }

  /// Whether records lack the column altogether: parts of rows, for which there must be a row. One that has it, and
  /// nothing in it, is no better off with an update.
  private func isPart(_ column: String?, _ plan: UpsertPlan) -> Bool {
    plan.mode == .upsert && !plan.columns.contains { SQLName.isSame($0.name, column ?? "") }
  }

  private func unique(
    _ plan: UpsertPlan, table: String
  ) -> (code: Reject.Code, column: String?, reason: String, hint: Wording?) {
    let key = plan.schema.keys.first { key in
      if let columns = key.columns {
        return says("UNIQUE", columns.map { plan.schema.name + "." + $0 }.joined(separator: ", "))
      }
      return says("UNIQUE", "index '\(key.indexName ?? "")'")
    }
    let columns = key?.columns?.joined(separator: ", ")
    let name = key?.description ?? "UNIQUE \(detail)"
    if plan.mode != .insert, let target = plan.key {
      return (
        .unique, columns,
        "another row of table \(table) has this \(name); records are matched by \(target.description)",
        nil
      )
    }
    return (
      .unique, columns, "table \(table) has a row with this \(name)",
      Wording(
        "\(.mode, "upsert") updates that row, \(.mode, "ignore") leaves it as it is",
        call: "upsert changes that row, insertOrIgnore leaves it as it is")
    )
  }

  private func foreignKey(
    _ plan: UpsertPlan, table: String
  ) -> (code: Reject.Code, column: String?, reason: String, hint: Wording?) {
    let keys = plan.schema.foreignKeys
    let list = keys.map { key in
      let parent = key.parentColumns.isEmpty ? "" : " (\(key.parentColumns.joined(separator: ", ")))"
      return "(\(key.columns.joined(separator: ", "))) to \(key.parentTable)\(parent)"
    }
    let column = keys.count == 1 ? keys[0].columns.joined(separator: ", ") : nil
    let which = keys.isEmpty ? "" : ": \(list.joined(separator: "; ").escapedForTerminal)"
    return (
      .foreignKey, column, "the record breaks a foreign key of table \(table)\(which)",
      Refusal.parentHint(plan.schema)
    )
  }

  /// What helps a record whose parent is not there.
  static func parentHint(_ schema: TableSchema) -> Wording {
    let refersToItself = schema.foreignKeys.contains { SQLName.isSame($0.parentTable, schema.name) }
    if !refersToItself { return "load the referenced rows first" }
    return Wording(
      "load the referenced rows first; \(.foreignKeys, "deferred") lets a parent come later in the same file",
      call: "store the rows first that it refers to; a reference that is DEFERRABLE INITIALLY DEFERRED lets a parent come later in the same call")
  }

  /// A row that others refer to cannot be deleted.
  private func references(
    _ plan: UpsertPlan, table: String
  ) -> (code: Reject.Code, column: String?, reason: String, hint: Wording?) {
    let keys = plan.schema.referencingKeys.filter(\.keepsParent)
    let list = keys.map { "rows of \($0.table) refer to this row by (\($0.columns.joined(separator: ", ")))" }
    return (
      .foreignKey, nil,
      keys.isEmpty
        ? "other rows refer to this row of table \(table), or to rows that go with it"
        : list.joined(separator: ", or ").escapedForTerminal,
      "delete those first"
    )
  }

  private func other(
    _ plan: UpsertPlan, table: String
  ) -> (code: Reject.Code, column: String?, reason: String, hint: Wording?) {
    switch ResultCode.primary(code) {
    case SQLITE_MISMATCH:
      let column = plan.schema.rowidAlias.map { plan.schema.columns[$0].name }
      let name = column?.escapedForTerminal ?? "the rowid"
      return (
        .typeMismatch, column,
        "column \(name) of table \(table) is its INTEGER PRIMARY KEY and takes integers only",
        nil
      )
    case SQLITE_TOOBIG:
      return (.tooLarge, nil, "the record is larger than SQLite takes", nil)
    case SQLITE_CONSTRAINT:
      return (.check, nil, "table \(table) refused the record: \(message.escapedForTerminal)", nil)
    default:
      return (
        .expression, nil,
        "an expression of table \(table) failed on the record: \(message.escapedForTerminal)", nil
      )
    }
  }

  /// What follows `... constraint failed: `.
  private var detail: String {
    let mark = " constraint failed: "
    guard let range = message.firstRange(of: mark) else { return message.escapedForTerminal }
    return String(message[range.upperBound...]).escapedForTerminal
  }

  private func says(_ constraint: String, _ what: String) -> Bool {
    message == "\(constraint) constraint failed: \(what)"
  }
}
