import UpsurgeRecords

/// Who is given what commands say on standard error, in the place of this process's own.
extension CommandFeed {
  private static let taker = Guarded<(@Sendable (String) -> Void)?>(nil)

  /// From here on, each line that a command says goes to `take`, without its end.
  package static func passTalk(to take: @escaping @Sendable (String) -> Void) { taker.withLock { $0 = take } }

  static var passesLines: Bool { taker.withLock { $0 != nil } }

  /// - Returns: false where nobody takes them.
  static func passOnLines(_ bytes: [UInt8]) -> Bool {
    guard let take = taker.withLock({ $0 }) else { return false }
    for line in bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
      take(String(decoding: line, as: UTF8.self))
    }
    return true
  }
}
