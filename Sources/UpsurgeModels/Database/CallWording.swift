import UpsurgeRecords

// What the engine says names terms. What a program is told names its calls.

extension UpsurgeError {
  /// The error in the words of the calls.
  var ofCall: UpsurgeError {
    var error = self
    error.said = Wording(said.ofCall)
    error.remedy = remedy.map { Wording($0.ofCall) }
    if let position = error.position, position.record != nil {
      error.position = position.ofCall
      // Its texts in a row, which nobody has written so.
      error.snippet = nil
    }
    return error
  }
}

extension Reject {
  /// The reject in the words of the calls.
  var ofCall: Reject {
    var reject = self
    reject.said = Wording(said.ofCall)
    reject.remedy = remedy.map { Wording($0.ofCall) }
    reject.position = position.ofCall
    return reject
  }
}

extension Position {
  /// A row of a call is known by its number alone.
  fileprivate var ofCall: Position { Position(file: "rows", record: record) }
}

extension Wording {
  fileprivate var ofCall: String { text(isCall: true, naming: Self.nameOfCall) }

  /// What a term is in a call.
  private static func nameOfCall(_ term: Term, _ value: String?) -> String {
    switch term {
    case .key: "on:"
    case .keyWhere: "where:"
    case .set: "merge:" + (value.map { " \($0)" } ?? "")
    case .updateIf: "when:"
    case .merge: value ?? "merge:"
    case .onError: "BulkOptions.onError = .\(value ?? "reject")"
    case .rejects: "BulkOptions.onReject"
    case .commitEvery: "BulkOptions.commitEvery"
    case .atomic: "without BulkOptions.commitEvery"
    case .nullKeys: "BulkOptions.nullKeys = .\(value ?? "insert")"
    default: option(term, value)
    }
  }
}
