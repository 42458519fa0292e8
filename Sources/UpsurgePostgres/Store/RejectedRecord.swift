import Upsurge
import UpsurgeRecords

extension BatchOutcomes.Rejected {
  /// The record as a reject, with its place and what the server has said.
  func reject(in batch: borrowing Batch, file: String, table: TargetTable, server: PostgresTarget) -> Reject {
    let position = batch.position(of: record, file: file)
    let raw = batch.rawBytes(of: record)
    switch cause {
    case .nullKey(let column):
      return Reject(
        .nullKey, at: position, column: column,
        reason: "the key column \(column.escapedForTerminal) is NULL, so the record matches no row"
          as Wording, raw: raw)
    case .fault(let fault, let column):
      let type =
        table.found?.column(column)?.typeName ?? table.making?.columns.first { $0.name == column }?.definition
        ?? "its type"
      let state = fault.sqlState.map { " [\($0)]" } ?? ""
      return Reject(
        Self.code(of: fault), at: position, column: column,
        reason: Wording(
          "the value of column \(column.escapedForTerminal) \(fault.words(typeName: type))\(state)"), raw: raw
      )
    case .failure(let failure):
      return Reject(
        Self.code(of: failure), at: position, column: failure.column,
        reason: Wording(Self.reason(failure, server)), raw: raw)
    }
  }

  static func reason(_ failure: PostgresFailure, _ server: PostgresTarget) -> String {
    var reason = server.masked(failure.message)
    if let detail = failure.detail { reason += ": " + server.masked(detail) }
    return "\(reason) [\(failure.sqlState)]".escapedForTerminal
  }

  private static func code(of fault: EncodingFault) -> Reject.Code {
    switch fault {
    case .nul, .badText: .invalidUTF8
    case .null: .notNull
    default: .typeMismatch
    }
  }

  private static func code(of failure: PostgresFailure) -> Reject.Code {
    switch failure.sqlState {
    case "23502": .notNull
    case "23503": .foreignKey
    case "23505", "23P01": .unique
    case "23514", "44000": .check
    case "P0001": .trigger
    default: failure.sqlState.hasPrefix("22") ? .typeMismatch : .badValue
    }
  }
}
