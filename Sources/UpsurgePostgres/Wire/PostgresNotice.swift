import CPostgres

/// What a server says beside its answers: notices, warnings.
package struct PostgresNotice: Sendable, Equatable {
  /// `NOTICE`, `WARNING`, in English whatever the server speaks.
  package var severity: String
  package var sqlState: String
  package var message: String
}

/// Keeps the notices of one connection; nothing of them is printed.
package final class NoticeLog {
  /// The first ones.
  package private(set) var notices: [PostgresNotice] = []
  /// How many came after them.
  package private(set) var droppedCount = 0

  /// A trigger may say one a row.
  private static let limit = 100

  func take(_ result: OpaquePointer) {
    if notices.count == Self.limit {
      droppedCount += 1
      return
    }
    func field(_ letter: UnicodeScalar) -> String {
      upsurge_pq_result_field(result, Int32(letter.value)).map { String(cString: $0) } ?? ""
    }
    notices.append(PostgresNotice(severity: field("V"), sqlState: field("C"), message: field("M")))
  }

  /// Gives those so far, and forgets them.
  package func takeAll() -> [PostgresNotice] {
    defer {
      notices = []
      droppedCount = 0
    }
    return notices
  }
}
