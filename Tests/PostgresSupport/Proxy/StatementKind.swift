/// Which statements a fault is about.
public struct StatementKind: Sendable, CustomStringConvertible {
  public let description: String
  let holds: @Sendable (String) -> Bool

  /// - Parameter holds: gets one statement, without the semicolon.
  public init(_ description: String, _ holds: @escaping @Sendable (String) -> Bool) {
    (self.description, self.holds) = (description, holds)
  }

  public static let any = StatementKind("any") { _ in true }

  /// In upper or lower case.
  public static func containing(_ words: String) -> StatementKind {
    let lower = words.lowercased()
    return StatementKind("has \(words)") { $0.lowercased().contains(lower) }
  }

  public static let makesTemporaryTable = StatementKind("makes a temporary table") { statement in
    let words = SQLText.words(statement, 3)
    return words.first == "CREATE" && !Set(words.dropFirst()).isDisjoint(with: ["TEMP", "TEMPORARY"])
  }

  public static let usesXmax = containing("xmax")

  /// `pg_advisory_lock` and its kin.
  public static let takesAdvisoryLock = StatementKind("takes an advisory lock") { statement in
    let lower = statement.lowercased()
    return lower.contains("pg_advisory_") || lower.contains("pg_try_advisory_")
  }

  /// The statements of a text, as the proxy cuts it.
  public static func statements(of text: String) -> [String] { SQLText.statements(text) }

  static let commits = StatementKind("commits") { statement in
    let words = SQLText.words(statement, 3)
    return (words.first == "COMMIT" || words.first == "END") && !words.contains("PREPARED")
  }
}
