import Foundation

/// One case of `upsert_cases.jsonl`: what a statement of SQLite does to a table, as the documents of SQLite and the
/// tests of other libraries have it.
public struct UpsertBehaviour: Decodable, Sendable {
  public var id: String
  public var what: String
  public var setupSQL: String
  public var check: String
  public var expectedRows: [[JSONScalar]]
  /// What RETURNING gives for each record, in input order.
  public var expectedReturning: [[JSONScalar]]?
  public var expectedError: String?
  public var referenceSQL: String

  /// The columns behind RETURNING.
  public var returnedColumns: [String] {
    let parts = referenceSQL.split(separator: " RETURNING ")
    guard parts.count == 2 else { return [] }
    return parts[1].split(separator: ",").map(String.init)
  }

  /// The table that the statement writes.
  public var table: String {
    String(referenceSQL.dropFirst("INSERT INTO ".count).prefix { $0 != " " && $0 != "(" })
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
  public static let all: [String: UpsertBehaviour] = {
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
public enum JSONScalar: Decodable, Equatable, Sendable {
  case null
  case integer(Int64)
  case text(String)

  public init(from decoder: any Decoder) throws {
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
  public var asSQL: String {
    switch self {
    case .null: "NULL"
    case .integer(let number): "\(number)"
    case .text(let text): "'\(text)'"
    }
  }

  /// A field of a CSV record: NULL is an unquoted empty field.
  public var asCSV: String {
    switch self {
    case .null: ""
    case .integer(let number): "\(number)"
    case .text(let text): "\"\(text)\""
    }
  }

  public var asJSON: String {
    switch self {
    case .null: "null"
    case .integer(let number): "\(number)"
    case .text(let text): "\"\(text)\""
    }
  }
}
