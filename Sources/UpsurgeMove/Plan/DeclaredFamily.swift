import UpsurgeRecords
import UpsurgeSQLite

/// What a declared type of SQLite says of its values: SQLite itself holds no column to it.
enum DeclaredFamily: Sendable, Equatable {
  /// - bits: 64, or fewer where the word is one of PostgreSQL's.
  case integer(bits: Int)
  case real
  /// - limit: letters, of VARCHAR(20); nil for any number.
  case text(limit: Int?)
  case blob
  /// Values that their words say more of than SQLite does: BOOLEAN, DATE.
  case special(SpecialType)
  /// Any values.
  case open

  /// - Parameter declared: as the column declares it; empty for none.
  init(_ declared: String) {
    let upper = declared.uppercased()
    let words = upper.prefix { $0 != "(" }.split(separator: " ").map(String.init)
    let numbers = upper.drop { $0 != "(" }.split { !$0.isNumber }.compactMap { Int($0) }
    let name = words.joined(separator: " ")
    if let special = SpecialType(name, numbers) {
      self = .special(special)
      return
    }
    switch name {
    case "INT2", "SMALLINT": self = .integer(bits: 16)
    case "INT4": self = .integer(bits: 32)
    case "VARCHAR", "CHARACTER VARYING": self = .text(limit: numbers.first)
    case "": self = .open
    default:
      switch Affinity(declaredType: declared) {
      case .integer: self = .integer(bits: 64)
      case .real: self = .real
      case .text: self = .text(limit: nil)
      case .none: self = .blob
      case .numeric: self = .open
      }
    }
  }
}

/// A type whose values SQLite stores as integers, reals or texts.
enum SpecialType: Sendable, Equatable {
  case truth, number, day, moment, clock, json
  /// Types of PostgreSQL that a move to SQLite has left in the declared type: `NUMERIC TEXT(10,2)`, `UUID TEXT`.
  case markedNumber([Int])
  case markedMoment, markedUUID, markedJSON, markedJSONB

  init?(_ name: String, _ numbers: [Int]) {
    switch name {
    case "BOOLEAN", "BOOL": self = .truth
    case "NUMERIC", "DECIMAL": self = .number
    case "DATE": self = .day
    case "DATETIME", "TIMESTAMP": self = .moment
    case "TIME": self = .clock
    case "JSON": self = .json
    case "NUMERIC TEXT": self = .markedNumber(numbers)
    case "TIMESTAMPTZ TEXT": self = .markedMoment
    case "UUID TEXT": self = .markedUUID
    case "JSON TEXT": self = .markedJSON
    case "JSONB TEXT": self = .markedJSONB
    default: return nil
    }
  }

  /// The type of PostgreSQL, where all values fit it.
  var serverType: String {
    switch self {
    case .truth: "boolean"
    case .number: "numeric"
    case .day: "date"
    case .moment: "timestamp without time zone"
    case .clock: "time without time zone"
    case .json, .markedJSON: "json"
    case .markedNumber(let numbers):
      numbers.isEmpty ? "numeric" : "numeric(\(numbers.map { "\($0)" }.joined(separator: ",")))"
    case .markedMoment: "timestamp with time zone"
    case .markedUUID: "uuid"
    case .markedJSONB: "jsonb"
    }
  }

  /// What holds for a value of the right kind that the type would not give back as it is, in the words of SQLite.
  func misfit(_ column: String) -> String {
    switch self {
    case .truth: "typeof(\(column)) = 'integer' AND \(column) NOT IN (0, 1)"
    case .number: "0"
    case .day:
      "typeof(\(column)) = 'text' AND (\(column) IS NOT date(\(column), '+0 days') OR \(column) < '0001')"
    case .moment: "typeof(\(column)) = 'text' AND NOT (\(Self.isMoment(column)))"
    case .clock: "typeof(\(column)) = 'text' AND \(column) IS NOT time(\(column), '+0 days')"
    case .json, .markedJSON, .markedJSONB: "typeof(\(column)) = 'text' AND NOT json_valid(\(column))"
    case .markedNumber(let numbers):
      "typeof(\(column)) = 'text' AND NOT (\(Self.isNumber(column, scale: numbers.isEmpty ? nil : numbers.dropFirst().first ?? 0)))"
    case .markedMoment:
      "typeof(\(column)) = 'text' AND NOT (\(column) GLOB '*+00' AND \(Self.isMoment("substr(\(column), 1, length(\(column)) - 3)")))"
    case .markedUUID:
      "typeof(\(column)) = 'text' AND NOT (length(\(column)) = 36 AND \(column) = lower(\(column)) "
        + "AND \(column) GLOB '????????-????-????-????-????????????' AND replace(\(column), '-', '') NOT GLOB '*[^0-9a-f]*')"
    }
  }

  /// `2026-11-27 09:30:00`, with up to six digits of a second, the last of which is not 0. Only with a modifier SQLite looks whether
  /// the month has that day.
  private static func isMoment(_ text: String) -> String {
    "substr(\(text), 1, 19) IS datetime(substr(\(text), 1, 19), '+0 days') AND \(text) >= '0001' AND (length(\(text)) = 19 OR length(\(text)) BETWEEN 21 AND 26 "
      + "AND substr(\(text), 20, 1) = '.' AND substr(\(text), 21) NOT GLOB '*[^0-9]*' AND \(text) NOT GLOB '*0')"
  }

  /// `-12.50`, with exactly so many digits after the point.
  private static func isNumber(_ column: String, scale: Int?) -> String {
    let form =
      "\(column) NOT GLOB '*[^-0-9.]*' AND \(column) GLOB '*[0-9]*' AND \(column) NOT GLOB '?*-*' AND \(column) NOT GLOB '*.*.*' "
      + "AND \(column) NOT GLOB '-.*' AND \(column) NOT GLOB '.*'"
    guard let scale else { return form }
    return form
      + (scale == 0
        ? " AND instr(\(column), '.') = 0"
        : " AND length(\(column)) - instr(\(column), '.') = \(scale) AND instr(\(column), '.') > 0")
  }
}
