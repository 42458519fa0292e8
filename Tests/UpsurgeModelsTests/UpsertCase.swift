import TestSupport
import Testing
import UpsurgeModels

/// How models say one of the cases of `upsert_cases.jsonl`.
struct UpsertCase: CustomTestStringConvertible, Sendable {
  enum Ending: Sendable {
    case stored
    /// One row is rejected.
    case rejected
    /// The call is refused.
    case refused
  }

  typealias Database = UpsurgeModels.Database

  /// What became of a row, and what its model's columns have then.
  struct Row: Sendable {
    var outcome: Outcome
    var values: [String: SQLValue]
  }

  var id: String
  var ending = Ending.stored
  /// The rows where Upsurge does better than the statement, as `Database.rows` shows them.
  var betterRows: [String]?
  /// Many rows a statement.
  var store: @Sendable (Database, BulkOptions) async throws -> Ledger
  /// Row by row.
  var storeReturning: @Sendable (Database, BulkOptions) async throws -> [Row]

  var testDescription: String { id }

  /// - Parameters:
  ///   - edit: what the options say.
  ///   - store: the call.
  ///   - returning: the same call, whose rows come back.
  init<Rows: Sequence & SendableMetatype, Model: Table>(
    _ id: String, ending: Ending = .stored, betterRows: [String]? = nil,
    options edit: @escaping @Sendable (inout BulkOptions) -> Void = { _ in },
    _ store: @escaping @Sendable (Database, BulkOptions) async throws -> Ledger,
    returning: @escaping @Sendable (Database, BulkOptions) throws -> ReturningRows<GivenRows<Rows>, Model>
  ) where Rows.Element: TableRow {
    self.id = id
    self.ending = ending
    self.betterRows = betterRows
    self.store = { database, options in
      var options = options
      edit(&options)
      return try await store(database, options)
    }
    storeReturning = { database, options in
      var options = options
      edit(&options)
      var rows: [Row] = []
      for try await row in try returning(database, options) {
        let values = try row.value.map {
          Dictionary(uniqueKeysWithValues: zip(Model.columnNames, try $0.columnValues))
        }
        rows.append(Row(outcome: row.outcome, values: values ?? [:]))
      }
      return rows
    }
  }
}
