/// Refused deliveries, as every store notes them.
extension RefusalTable {
  package static let notes = NoteTable(
    layout,
    columns: [
      .init("table", isKey: true), .init("owned_by", isKey: true), .init("content", isRequired: false),
      .init("digest", isKey: true), .init("guards"), .init("reason"), .init("refused_at"),
      .init("rows_known", .integer),
    ])

  /// What a row of it says, which has the value of each column.
  package static func delivery(_ row: [SQLValue]) -> RefusedDelivery {
    func text(_ index: Int) -> String? {
      if case .text(let text) = row[index] { return text }
      return nil
    }
    return RefusedDelivery(
      contentHash: text(2).flatMap { UInt64($0, radix: 16) }, digest: text(3) ?? "", guards: text(4) ?? "",
      reason: text(5) ?? "", refusedAt: text(6) ?? "", areRowsKnown: row[7] != .integer(0))
  }
}
