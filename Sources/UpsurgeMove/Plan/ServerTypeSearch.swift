import UpsurgeRecords
import UpsurgeSQLite

/// Finds a type of PostgreSQL for a column of SQLite, by what it declares and by what it holds.
///
///     conditions    counted over all rows, by one scan of the table
///     choice        the type, and whether some values do not go there
struct ServerTypeSearch {
  /// The type of a column, and what its values are.
  struct Choice: Equatable {
    var type: String
    var kind: ColumnKind
    /// Values that do not go there: what holds for them, and how many there are.
    var misfit: Misfit?
  }

  struct Misfit: Equatable {
    var condition: String
    var count: Int64
    /// `value`, `text`.
    var noun = "value"
    /// `of another kind`, `with a NUL byte`.
    var words: String
    /// A type that takes all of them.
    var widerType = "text"
  }

  private let family: DeclaredFamily
  private let given: String?
  private let column: String
  private let isUntyped: Bool
  /// Whether `numeric` has infinity, as it does from version 14 on.
  private let numericHasInfinity: Bool

  /// - Parameter given: the type that a person has said.
  init(_ shape: ColumnShape, given: String?, numericHasInfinity: Bool) {
    self.numericHasInfinity = numericHasInfinity
    family = DeclaredFamily(shape.type)
    column = shape.name.quotedAsName
    isUntyped = shape.type.isEmpty
    self.given = given?.lowercased()
  }

  private var type: String { "typeof(\(column))" }

  private var isInfinite: String { Self.isInfinite(column) }

  private static func isInfinite(_ column: String) -> String {
    "typeof(\(column)) = 'real' AND \(column) IN (9e999, -9e999)"
  }

  private var hasNUL: String { "\(type) = 'text' AND instr(CAST(\(column) AS BLOB), x'00') > 0" }

  /// Conditions whose rows are counted.
  var conditions: [String] {
    if let given { return Self.conditions(ofGiven: given, column) + [hasNUL] }
    switch family {
    case .integer(let bits):
      let outside =
        bits == 64
        ? []
        : ["\(type) = 'integer' AND \(column) NOT BETWEEN -\(1 << (bits - 1)) AND \((1 << (bits - 1)) - 1)"]
      return ["\(type) NOT IN ('integer', 'null')"] + outside
    case .real: return ["\(type) IN ('text', 'blob') AND \(column) IS NOT 'NaN'"]
    case .text(let limit):
      return ["\(type) NOT IN ('text', 'null')", hasNUL] + (limit.map { ["length(\(column)) > \($0)"] } ?? [])
    case .blob: return ["\(type) NOT IN ('blob', 'null')"]
    case .special(let special): return open + [isInfinite, special.misfit(column)]
    case .open: return open + [isInfinite]
    }
  }

  private var open: [String] { ["integer", "real", "text", "blob"].map { "\(type) = '\($0)'" } + [hasNUL] }

  /// - Parameter counts: of the rows of each condition.
  func choice(_ counts: [Int64]) -> Choice {
    if let given { return choice(ofGiven: given, counts) }
    let others =
      counts[0] > 0 ? Misfit(condition: conditions[0], count: counts[0], words: "of another kind") : nil
    switch family {
    case .integer(let bits):
      let isSmall = bits < 64 && counts[1] == 0
      return Choice(
        type: isSmall ? bits == 16 ? "smallint" : "integer" : "bigint", kind: .integer, misfit: others)
    case .real: return Choice(type: "double precision", kind: .real, misfit: others)
    case .text(let limit):
      let fits = limit.map { (1...10_485_760).contains($0) && counts[2] == 0 } ?? false
      return Choice(
        type: fits ? "character varying(\(limit ?? 0))" : "text", kind: .text,
        misfit: others ?? nulMisfit(counts[1]))
    case .blob:
      return Choice(
        type: "bytea", kind: .blob,
        misfit: others.map {
          Misfit(condition: $0.condition, count: $0.count, words: $0.words, widerType: "bytea")
        })
    case .special(let special): return choice(Contents(counts), special: special, misfits: counts[6])
    case .open: return choice(Contents(counts), special: nil, misfits: 0)
    }
  }

  private func nulMisfit(_ count: Int64) -> Misfit? {
    count > 0
      ? Misfit(
        condition: hasNUL, count: count, noun: "text",
        words: "with a NUL byte, which PostgreSQL cannot store", widerType: "bytea") : nil
  }

  private static func infinityMisfit(_ condition: String, _ count: Int64) -> Misfit? {
    count > 0
      ? Misfit(
        condition: condition, count: count,
        words: "that \(count == 1 ? "is" : "are") infinite, which this numeric has no place for",
        widerType: "double precision") : nil
  }

  /// How many values there are of each kind.
  private struct Contents {
    var integers, reals, texts, blobs, nuls, infinities: Int64

    init(_ counts: [Int64]) {
      (integers, reals, texts, blobs, nuls) = (counts[0], counts[1], counts[2], counts[3], counts[4])
      infinities = counts[5]
    }

    var isEmpty: Bool { integers + reals + texts + blobs == 0 }
  }

  private func choice(_ found: Contents, special: SpecialType?, misfits: Int64) -> Choice {
    if found.isEmpty {
      guard let special else {
        return Choice(
          type: isUntyped ? "text" : "numeric", kind: isUntyped ? .text : .number(hasReals: false))
      }
      return Choice(type: special.serverType, kind: Self.kind(of: special))
    }
    let numbers = found.integers + found.reals
    if numbers > 0, found.texts + found.blobs == 0 {
      if special == .truth, found.reals == 0, misfits == 0 { return Choice(type: "boolean", kind: .truth) }
      if special != .number, found.reals == 0 { return Choice(type: "bigint", kind: .integer) }
      if special != .number, found.integers == 0 { return Choice(type: "double precision", kind: .real) }
      return Choice(
        type: "numeric", kind: .number(hasReals: found.reals > 0),
        misfit: numericHasInfinity ? nil : Self.infinityMisfit(isInfinite, found.infinities))
    }
    if found.texts > 0, numbers + found.blobs == 0 {
      if let misfit = nulMisfit(found.nuls) { return Choice(type: "text", kind: .text, misfit: misfit) }
      guard let special, misfits == 0, special != .truth, special != .number else {
        return Choice(type: "text", kind: .text)
      }
      return Choice(type: special.serverType, kind: Self.kind(of: special))
    }
    if found.blobs > 0, numbers + found.texts == 0 { return Choice(type: "bytea", kind: .blob) }
    return mixed(numbers, found)
  }

  /// Values of several kinds: those of the fewer are named.
  private func mixed(_ numbers: Int64, _ found: Contents) -> Choice {
    let most = max(numbers, found.texts, found.blobs)
    let kept = most == numbers ? "'integer', 'real'" : most == found.texts ? "'text'" : "'blob'"
    let words = most == numbers ? "beside numbers" : most == found.texts ? "beside texts" : "beside BLOBs"
    let misfit = Misfit(
      condition: "\(type) NOT IN (\(kept), 'null')", count: numbers + found.texts + found.blobs - most,
      words: words,
      widerType: found.blobs > 0 ? "bytea" : "text")
    return Choice(type: "text", kind: .text, misfit: misfit)
  }

  private static func kind(of special: SpecialType) -> ColumnKind {
    switch special {
    case .truth: .truth
    case .number: .number(hasReals: false)
    case .day, .moment, .clock: .text
    case .json, .markedNumber, .markedMoment, .markedUUID, .markedJSON, .markedJSONB: .spelled
    }
  }
}

// What a person has given as the type.
extension ServerTypeSearch {
  private static let integers: Set<String> = ["smallint", "integer", "bigint", "int", "int2", "int4", "int8"]
  private static let reals: Set<String> = ["real", "double precision", "float4", "float8", "float"]

  private static func word(_ type: String) -> String { String(type.prefix { $0 != "(" }).trimmingSpaces }

  private static func conditions(ofGiven type: String, _ column: String) -> [String] {
    let word = word(type)
    let kind = "typeof(\(column))"
    if integers.contains(word) { return ["\(kind) NOT IN ('integer', 'null')"] }
    if reals.contains(word) { return ["\(kind) IN ('text', 'blob') AND \(column) IS NOT 'NaN'"] }
    switch word {
    case "bytea": return ["0"]
    case "boolean", "bool":
      return ["\(kind) IN ('real', 'text', 'blob') OR \(kind) = 'integer' AND \(column) NOT IN (0, 1)"]
    case "numeric", "decimal": return ["\(kind) = 'blob'", "\(kind) = 'real'", isInfinite(column)]
    default: return ["\(kind) = 'blob'"]
    }
  }

  private func choice(ofGiven type: String, _ counts: [Int64]) -> Choice {
    let conditions = self.conditions
    let word = Self.word(type)
    var choice = Choice(type: type, kind: .spelled)
    if Self.integers.contains(word) { choice.kind = .integer }
    if Self.reals.contains(word) { choice.kind = .real }
    switch word {
    case "bytea": choice.kind = .castBlob
    case "boolean", "bool": choice.kind = .truth
    case "numeric", "decimal":
      choice.kind = .number(hasReals: counts[1] > 0)
      // With digits, a numeric has none in any version.
      if !numericHasInfinity || type.contains("(") {
        choice.misfit = Self.infinityMisfit(conditions[2], counts[2])
      }
    case "text", "varchar", "character varying": choice.kind = .castText
    default: break
    }
    if counts[0] > 0 {
      choice.misfit = Misfit(
        condition: conditions[0], count: counts[0], words: "of another kind",
        widerType: word == "text" ? "bytea" : "text")
    } else if let nuls = counts.last, nuls > 0, choice.kind != .castBlob {
      choice.misfit = Misfit(
        condition: conditions[conditions.count - 1], count: nuls, noun: "text",
        words: "with a NUL byte, which PostgreSQL cannot store",
        widerType: "bytea")
    }
    return choice
  }
}

extension String {
  /// Without spaces at either end.
  fileprivate var trimmingSpaces: String {
    var text = self[...].drop { $0 == " " }
    while text.last == " " { text = text.dropLast() }
    return String(text)
  }
}
