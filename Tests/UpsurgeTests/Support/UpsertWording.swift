import Foundation
import TestSupport
import Testing
import Upsurge

extension JSONScalar {
  var asValue: SQLValue {
    switch self {
    case .null: .null
    case .integer(let number): .integer(number)
    case .text(let text): .text(text)
    }
  }
}

/// How Upsurge says one of the cases.
struct UpsertWording: CustomTestStringConvertible, Sendable {
  enum Ending: Sendable, Equatable {
    case stored
    /// One record is rejected for this reason.
    case rejected(Reject.Code)
    /// The run is refused before it begins.
    case refused
  }

  var id: String
  var table: String
  /// The rules, for the library.
  var rules: UpsertRules
  /// The rules, for the command.
  var arguments: [String]
  /// The fields of the records.
  var columns: [String]
  /// The records as JSON arrays.
  var records: String
  var ending = Ending.stored
  /// The rows where Upsurge does better than the statement, as `Database.rows` shows them.
  var betterRows: [String]?

  var testDescription: String { id }

  var values: [[JSONScalar]] {
    (try? JSONDecoder().decode([[JSONScalar]].self, from: Data("[\(records)]".utf8))) ?? []
  }

  var ndjson: String {
    values.map { record in
      "{" + zip(columns, record).map { "\"\($0)\":\($1.asJSON)" }.joined(separator: ",") + "}\n"
    }.joined()
  }

  var csv: String {
    ([columns.joined(separator: ",")] + values.map { $0.map(\.asCSV).joined(separator: ",") })
      .map { $0 + "\n" }.joined()
  }

  var recordCount: Int { values.count }
}
