import Upsurge

// The engine names options as its command does. What a program is told names them as its calls do.

extension UpsurgeError {
  /// The same in the words of the calls.
  var ofCall: UpsurgeError {
    var error = self
    error.message = message.messageOfCall
    error.hint = hint?.hintOfCall
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
    if code != .trigger { reject.reason = reason.messageOfCall }
    reject.hint = hint?.hintOfCall
    reject.position = position.ofCall
    return reject
  }
}

extension Position {
  /// A row of a call is known by its number alone.
  fileprivate var ofCall: Position { Position(file: "rows", record: record) }
}

extension String {
  /// A hint in the words of the calls.
  fileprivate var hintOfCall: String { replacing(Self.wordsOfHints) }

  /// A message in the words of the calls; what a trigger says is nobody else's.
  fileprivate var messageOfCall: String { hasSuffix("[trigger]") ? self : replacing(Self.wordsOfMessages) }

  private func replacing(_ words: [(option: String, words: String)]) -> String {
    words.reduce(self) { text, word in
      text.split(separator: word.option, omittingEmptySubsequences: false).joined(separator: word.words)
    }
  }

  private static let wordsOfMessages = [
    ("mode upsert needs a key", "an upsert needs a key"),
    ("mode update needs a key", "an update needs a key"),
    ("mode delete needs a key", "a delete needs a key"),
    ("has no PRIMARY KEY in the input", "has no PRIMARY KEY of columns of the model"),
    ("--set or --update-if", "merge: or when:"), ("--set ", "merge: "), ("--update-if", "when:"),
    ("--merge newer:", "newer: "), ("--key-where", "where:"), ("sweep: soft:", "sweeping: .soft:"),
    (
      "records could not be read, or have no key, so the rows they are about cannot be told",
      "rows of the call were rejected, or have no key, so the rows of the table that they are about cannot be told"
    ),
    ("the max-delete of", "the maximumDeletes of"), ("the min-rows of", "the leastRows of"),
  ]

  /// Longer ones first.
  private static let wordsOfHints = [
    (
      "--on-error reject goes on without it; --rejects FILE keeps it",
      "BulkOptions.onError = .reject goes on without it, and onReject is given it"
    ),
    ("--create-key makes it: ", "make it: "),
    ("--busy-timeout MS waits longer", "a longer busy timeout in the database's Configuration waits longer"),
    ("--memory BYTES bounds", "the database's Configuration bounds"),
    ("--mode upsert updates that row, --mode ignore", "upsert changes that row, insertOrIgnore"),
    ("--mode update", "update"),
    (
      "; --foreign-keys deferred lets a parent come later in the same file",
      "; a reference that is DEFERRABLE INITIALLY DEFERRED lets a parent come later in the same call"
    ),
    (
      "--alter adds it; --columns A,B loads only the columns named",
      "add it to the table, or take it out of the model"
    ),
    (
      "--alter adds them; --columns A,B loads only the columns named",
      "add them to the table, or take them out of the model"
    ),
    ("--set ", "merge: "), ("--update-if", "when:"),
    ("--key-where SQL", "where:"), ("--key COLS", "on:"), ("--key takes names of:", "the columns are:"),
    ("--commit-every", "BulkOptions.commitEvery"), ("--atomic", "without BulkOptions.commitEvery"),
    ("key: [COLS] names", "on: names"), ("null-keys: insert and key-where", "nullKeys = .insert and where:"),
    (
      "mend the delivery and run the job again",
      "BulkOptions.onReject is told why rows were rejected; mend them, give each its key, and call again"
    ),
    ("sweep: none", "sweeping: .none"),
    ("in the guards lets them go", "as SweepGuards.maximumDeletes lets them go"),
    ("max-delete: ", "a count of "), ("allow-empty: true in the guards", "SweepGuards.allowsEmpty"),
    ("expect-count", "SweepGuards.expectedCount"), ("lower min-rows", "lower SweepGuards.leastRows"),
  ]
}
