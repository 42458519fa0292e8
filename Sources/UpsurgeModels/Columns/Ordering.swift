/// A term that rows are sorted by.
public struct Ordering: Sendable {
  let sql: SQLText
}

extension SQLExpression {
  /// Sorts from the smallest on; NULL is smaller than any value.
  public func ascending() -> Ordering { Ordering(sql: "\(sql) ASC") }

  /// Sorts from the largest on.
  public func descending() -> Ordering { Ordering(sql: "\(sql) DESC") }
}
