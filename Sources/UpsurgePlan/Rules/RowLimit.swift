/// A bound on records or rows: a number, or a share of some others.
public enum RowLimit: Sendable, Equatable {
  /// At most so many.
  case count(UInt64)
  /// At most so many of a hundred.
  case percent(Double)

  /// `100` or `2.5%`.
  public init?(text: String) {
    if text.hasSuffix("%") {
      guard let share = Double(text.dropLast()), (0...100).contains(share) else { return nil }
      self = .percent(share)
    } else {
      guard let count = UInt64(text) else { return nil }
      self = .count(count)
    }
  }
}
