import UpsurgeRecords

extension SourceName {
  /// Starts what sends the stream of this name; nil for files and standard input.
  /// - Throws: `unreadableInput`, `usage`, `interrupted`.
  static func openFeed(
    _ name: String, asking question: HTTPQuestion, cancellation: ReadCancellation?
  ) throws(UpsurgeError) -> (any Feed)? {
    if isURL(name) { return try HTTPFetch.open(question.request(to: name), cancellation: cancellation) }
    if let command = command(of: name) {
      return try CommandFeed(command, environment: question.environment, mask: question.mask)
    }
    return nil
  }
}
