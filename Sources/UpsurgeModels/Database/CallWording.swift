import Upsurge

// The engine names options as its command does. What a program is told names them as its calls do.

extension UpsurgeError {
  /// The same in the words of the calls.
  var ofCall: UpsurgeError {
    var error = self
    error.message = message.ofCall
    error.hint = hint?.ofCall
    if let position = error.position, position.record != nil {
      error.position = position.ofCall
      // Its texts in a row, which nobody has written so.
      error.snippet = nil
    }
    return error
  }
}

extension Reject {
  /// The same in the words of the calls.
  var ofCall: Reject {
    var reject = self
    reject.reason = reason.ofCall
    reject.hint = hint?.ofCall
    reject.position = position.ofCall
    return reject
  }
}

extension Position {
  /// A row of a call is known by its number alone.
  fileprivate var ofCall: Position { Position(file: "rows", record: record) }
}

extension String {
  fileprivate var ofCall: String {
    var text = self
    for (option, words) in Self.wordsOfCalls {
      let parts = text.split(separator: option, omittingEmptySubsequences: false)
      if parts.count > 1 { text = parts.joined(separator: words) }
    }
    return text
  }

  /// How calls spell an option; longer ones first.
  private static let wordsOfCalls = [
    (
      "--on-error reject goes on without it; --rejects FILE keeps it",
      "BulkOptions.onError = .reject goes on without it, and onReject is given it"
    ),
    ("--create-key makes it: ", "make it: "),
    ("--busy-timeout MS waits longer", "a larger Configuration.busyTimeout waits longer"),
    ("--memory BYTES", "Configuration.memory"),
    ("--mode upsert updates that row, --mode ignore", "upsert changes that row, insertOrIgnore"),
    ("--mode update", "update"),
    ("--merge newer:", "newer: "),
    ("--set or --update-if", "merge: or when:"), ("--set ", "merge: "), ("--update-if", "when:"),
    ("--key-where SQL", "where:"), ("--key COLS", "on:"), ("--key takes names of:", "the columns are:"),
    ("--key-where", "where:"), ("--key", "on:"),
    ("--commit-every", "BulkOptions.commitEvery"), ("--atomic", "without BulkOptions.commitEvery"),
    ("key: [COLS] names", "on: names"), ("null-keys: insert and key-where", "nullKeys = .insert and where:"),
    ("sweep: none", "sweeping: .none"), ("sweep: soft:", "sweeping: .soft:"),
    ("in the guards lets them go", "as SweepGuards.maximumDeletes lets them go"),
    ("max-delete: ", "a count of "), ("max-delete", "maximumDeletes"),
    ("allow-empty: true in the guards", "SweepGuards.allowsEmpty"),
    ("expect-count", "SweepGuards.expectedCount"),
    ("lower min-rows", "lower SweepGuards.leastRows"), ("min-rows", "leastRows"),
  ]
}
