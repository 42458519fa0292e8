import CSQLite
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

/// Finds the rows of keys that were remembered.
final class KeySearch {
  private let statement: Statement
  /// The parameter of each part.
  private let parameters: [Int32]

  /// - Parameter condition: SQL that must be true of the row.
  init(_ plan: UpsertPlan, condition: String?, on connection: Connection) throws(UpsurgeError) {
    var parameters: [Int32] = []
    for name in plan.key?.columns ?? [] {
      let slot = plan.slots.firstIndex {
        SQLName.isSame(plan.schema.columns[$0.columnIndex].name, name)
      }
      parameters.append(Int32(slot ?? 0) + 1)
    }
    self.parameters = parameters
    let find = try plan.findSQL(
      shape: SlotShape(full: plan.slots.count), columns: [TableSchema.rowidIndex], .numbered)
    let rowid = plan.schema.rowidName ?? "rowid"
    let table = try SQLName.quote(plan.schema.name)
    statement = try connection.prepare(
      condition.map { "SELECT \(rowid) FROM main.\(table) WHERE \(rowid) = (\(find)) AND (\($0))" } ?? find,
      isPersistent: true)
  }

  func rowid(of key: RowKeys.Reader) throws(UpsurgeError) -> Int64? {
    defer { statement.reset() }
    for (part, parameter) in zip(key.parts, parameters) {
      switch part {
      case .null: try statement.bind(SQLValue.null, at: parameter)
      case .integer(let value): try statement.bind(value, at: parameter)
      case .real(let bits): try statement.bind(.real(Double(bitPattern: bits)), at: parameter)
      case .text(let range):
        try statement.bind(.text(String(decoding: key.bytes[range], as: UTF8.self)), at: parameter)
      case .blob(let range): try statement.bind(.blob(Array(key.bytes[range])), at: parameter)
      }
    }
    return try statement.step() ? statement.integer(at: 0) : nil
  }
}
