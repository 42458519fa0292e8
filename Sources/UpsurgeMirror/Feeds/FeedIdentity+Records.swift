import Upsurge
import UpsurgeRecords

/// What a job says of a feed's records, and what of that may change without the records being others.
///
///     where: kind = 'B'    in the place of another one, new, or gone: other records, so it is another feed
///     delimiter: ;         new: how the delivery is written was found before, and is given now
///     delimiter: ;         in the place of another one, or gone: another feed
extension FeedIdentity {
  /// Options that say how a delivery is written, or that take what was rejected. Messages ask for them where a delivery looks
  /// otherwise, so they may come new; the fields are compared all the same.
  private static let answers: Set<Term> = [
    .format, .encoding, .delimiter, .widths, .quote, .escape, .comment, .headerLines, .skipLines, .names,
    .ragged, .quotes, .jsonNaN,
  ]

  /// In the form in which it is kept.
  static func records(of table: MirrorTable) -> [String] {
    table.options.recordWords.map { "\($0.term.rawValue) \($0.value)" }
  }

  /// What is said otherwise of the records than it was; none where it is not known what it was.
  /// - Parameter fields: those that the last accepted delivery had and the job took; empty where nobody knows.
  func changedRecords(from other: FeedIdentity, fields: [String]) -> [String] {
    guard let records, let last = other.records else { return [] }
    var seen: Set<String> = []
    return (records + last).compactMap { word in
      let term = Self.term(of: word)
      guard seen.insert(term).inserted else { return nil }
      return Self.change(
        of: term, from: Self.values(of: term, in: last), to: Self.values(of: term, in: records),
        fields: fields)
    }
  }

  private static func change(of term: String, from then: [String], to now: [String], fields: [String])
    -> String?
  {
    if Set(then) == Set(now) { return nil }
    let known = Set(fields.map(SQLName.folded))
    switch Term(rawValue: term) {
    case .columns?:
      // With more columns than before nothing goes stale.
      if now.isEmpty { return nil }
      let left = (then.isEmpty ? fields : then).filter { !now.contains(SQLName.folded($0)) }
      if !left.isEmpty {
        return "\(term) (leaves out \(left.joined(separator: ", ")), where rows keep their values)"
      }
      if !then.isEmpty || !fields.isEmpty { return nil }
    case .rename?:
      // A field that the last delivery did not have fills no column so far.
      let changed = Set(now).symmetricDifference(then)
      if !known.isEmpty,
        changed.allSatisfy({ !known.contains(SQLName.folded(String($0.prefix { $0 != "=" }))) })
      {
        return nil
      }
    case let known?:
      if then.isEmpty && answers.contains(known) { return nil }
    case nil: break
    }
    return "\(term) \(shown(now)) (was \(shown(then)))"
  }

  private static func shown(_ values: [String]) -> String {
    values.isEmpty ? "none" : values.map { $0.isEmpty ? "''" : $0 }.joined(separator: ", ")
  }

  private static func term(of word: String) -> String { String(word.prefix { $0 != " " }) }

  private static func values(of term: String, in words: [String]) -> [String] {
    words.filter { Self.term(of: $0) == term }.map { String($0.dropFirst(term.count + 1)) }
  }
}
