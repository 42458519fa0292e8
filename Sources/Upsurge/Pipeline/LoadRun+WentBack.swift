/// A run whose connection has broken resumes from what stands in the store.
extension LoadRun {
  /// - Throws: the error, where what was read cannot be read again, or nothing was committed in so many tries.
  func wentBack<S: Store>(
    because error: UpsurgeError, _ input: LoadInput, _ store: S, _ claim: JobClaim
  ) throws(UpsurgeError) -> StartOver {
    // Before its first commit a resumed run stands where the earlier one ended.
    let standing = try store.standing(of: input.runJob, owner: owner, earlier: input.beginning.resumption)
    let committed = standing?.progress.ledger.read ?? 0
    var tries = 1
    if case .wentBack(let start, let before) = again, start.committedCount == committed { tries = before + 1 }
    claim.standing = standing
    let isComplete = standing?.state == .complete
    let firstIndex = input.beginning.resumption == nil ? input.beginning.index : 0
    let unreadable = input.beginning.files.firstUnreadable(from: standing?.position.sourceIndex ?? firstIndex)
    guard tries <= Self.mostTries, unreadable == nil || isComplete, control.cancellationSignal == nil else {
      throw ended(by: error, before: isComplete ? nil : unreadable.map { input.sources[$0] }, standing)
    }
    note(
      RunNote(
        .warning,
        "\(error.message); resumes after the \(Words.count(committed, "record")) that \(committed == 1 ? "is" : "are") committed"
      ))
    let replaced = standing?.owner == owner.text ? [] : input.beginning.replaced
    guard let standing else { return .wentBack(.anew(replaced: replaced, doubt: nil), tries: tries) }
    if isComplete { return .wentBack(.report(standing), tries: tries) }
    return .wentBack(.goOn(standing, replaced: replaced), tries: tries)
  }

  /// So often a run goes back to one place.
  private static let mostTries = 6

  /// The error of a run that cannot go back, with what stands.
  /// - Parameter unreadable: what cannot be read a second time.
  private func ended(by error: UpsurgeError, before unreadable: Source?, _ standing: RunRecord?)
    -> UpsurgeError
  {
    var error = error
    guard error.code == .commitsLost else {
      if job.options.transaction.isAtomic, unreadable == nil, control.cancellationSignal == nil {
        error.remedy = "leave out \(.atomic): a limit of the server may end what is one long transaction"
      }
      return error
    }
    let confirmed = tellWhatStands(standing, isResumable: unreadable == nil && standing != nil)
    let left = Words.count(standing?.progress.ledger.read ?? 0)
    error.said += "; of \(Words.count(confirmed, "record")) that were committed \(left) are left"
    guard let unreadable else { return error }
    let name = unreadable.isStandardInput ? "standard input" : unreadable.name.escapedForTerminal
    error.said += ", and \(name) cannot be read again"
    error.remedy =
      "load all of it again: with \(.key), rows that are there count as unchanged; from a file, the run goes back by itself"
    return error
  }
}
