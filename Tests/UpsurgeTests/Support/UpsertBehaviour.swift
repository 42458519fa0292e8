import Foundation
import TestSupport
import Testing
import Upsurge

/// One case of `upsert_cases.jsonl`: what a statement of SQLite does to a table, as the documents of SQLite and the
/// tests of other libraries have it.
struct UpsertBehaviour: Decodable {
  var id: String
  var what: String
  var setupSQL: String
  var check: String
  var expectedRows: [[JSONScalar]]
  /// What RETURNING gives for each record, in input order.
  var expectedReturning: [[JSONScalar]]?
  var expectedError: String?
  var referenceSQL: String

  /// The columns behind RETURNING.
  var returnedColumns: [String] {
    let parts = referenceSQL.split(separator: " RETURNING ")
    guard parts.count == 2 else { return [] }
    return parts[1].split(separator: ",").map(String.init)
  }

  enum CodingKeys: String, CodingKey {
    case id, what, check
    case setupSQL = "setup_sql"
    case expectedRows = "expected_rows"
    case expectedReturning = "expected_returning"
    case expectedError = "expected_error"
    case referenceSQL = "reference_sql"
  }

  /// The cases by id.
  static let all: [String: UpsertBehaviour] = {
    guard let url = Bundle.module.url(forResource: "Fixtures/upsert_cases", withExtension: "jsonl"),
      let data = try? Data(contentsOf: url)
    else { return [:] }
    let cases = data.split(separator: UInt8(ascii: "\n")).compactMap {
      try? JSONDecoder().decode(UpsertBehaviour.self, from: Data($0))
    }
    return Dictionary(cases.map { ($0.id, $0) }) { first, _ in first }
  }()
}

/// A value without parts, as JSON writes it.
enum JSONScalar: Decodable, Equatable {
  case null
  case integer(Int64)
  case text(String)

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let number = try? container.decode(Int64.self) {
      self = .integer(number)
    } else {
      self = .text(try container.decode(String.self))
    }
  }

  /// As `Database.rows` shows it.
  var asSQL: String {
    switch self {
    case .null: "NULL"
    case .integer(let number): "\(number)"
    case .text(let text): "'\(text)'"
    }
  }

  /// A field of a CSV record: NULL is an unquoted empty field.
  var asCSV: String {
    switch self {
    case .null: ""
    case .integer(let number): "\(number)"
    case .text(let text): "\"\(text)\""
    }
  }

  var asValue: SQLValue {
    switch self {
    case .null: .null
    case .integer(let number): .integer(number)
    case .text(let text): .text(text)
    }
  }

  var asJSON: String {
    switch self {
    case .null: "null"
    case .integer(let number): "\(number)"
    case .text(let text): "\"\(text)\""
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
  /// The same for the command.
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
