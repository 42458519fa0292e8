import UpsurgeRecords

/// What a snapshot means for rows that it does not have, and what must hold before one of them is removed.
package struct SnapshotRules: Sendable {
  package var sweep = RowSweep.none
  /// What `soft` puts in the column of a row that is gone, in SQL; nil is the time in a column of text, 1 in one of numbers.
  package var softMark: String?
  /// What that column has in a row that is there, in SQL, beside NULL, 0 and an empty text.
  package var softAbsence: String?
  /// What a sweep puts there in a row that comes back, in SQL; nil is NULL where the column may be that, or else what it has
  /// in a row that is there.
  package var softRevival: String?
  /// SQL over the table: only rows for which it is true belong to the feed.
  package var scope: String?
  /// What must hold before one of them is removed.
  package var guards = DeliveryGuards()
  /// Records of the last delivery that was whole.
  package var lastCount: UInt64?
  /// The feed's name among those of the table; empty where it has none.
  package var owner = ""
  /// The digest of a delivery that was refused and is let through all the same.
  package var acceptedDigest: String?
  /// What stands for the options by which the delivery is read and stored: with others it is judged again.
  package var reading = ""

  /// What the bits of rows that were seen may take where no memory is shared; the result does not depend on it.
  package var bitsByteLimit = 8 << 20

  package init() {}
}

/// What is known of a delivery before a row is removed because of it.
package struct SnapshotFacts {
  var readCount: UInt64
  /// Records beside them that the condition of the feed leaves out.
  var filteredCount: UInt64
  /// Records of which nobody knows which row they are about.
  var unreadableCount: UInt64
  /// Rows in scope before the run.
  package var rowsBefore: UInt64
  /// Rows in scope that no record was about.
  package var unseenCount: UInt64
  /// Whether a refused delivery has brought rows, and nobody knows which.
  var hasUnknownRows = false

  package init(
    readCount: UInt64, filteredCount: UInt64 = 0, unreadableCount: UInt64, rowsBefore: UInt64,
    unseenCount: UInt64,
    hasUnknownRows: Bool = false
  ) {
    self.readCount = readCount
    self.filteredCount = filteredCount
    self.unreadableCount = unreadableCount
    self.rowsBefore = rowsBefore
    self.unseenCount = unseenCount
    self.hasUnknownRows = hasUnknownRows
  }

  /// These, and whether a refused delivery has brought rows that nobody knows.
  package func with(unknownRows: Bool) -> SnapshotFacts {
    var facts = self
    facts.hasUnknownRows = unknownRows
    return facts
  }
}

/// Why a delivery is not taken for whole, or nothing is swept because of it.
package struct SnapshotRefusal {
  /// Without what comes of it.
  package var reason: Wording
  var hint: Wording?
  /// Whether rows would have been swept.
  var isOfSweep: Bool

  package var error: UpsurgeError {
    UpsurgeError(.guardRefused, (isOfSweep ? "nothing is swept: " : "") + reason, hint: hint)
  }
}

extension SnapshotRules {
  /// Why the delivery is not taken for whole, or nothing may be swept; nil where nothing speaks against it.
  package func refusal(_ facts: SnapshotFacts, table: String) -> SnapshotRefusal? {
    if let refusal = completenessRefusal(facts) { return refusal }
    return sweep == .none ? nil : unreadableRefusal(facts) ?? deletesRefusal(facts, table: table)
  }

  private func unreadableRefusal(_ facts: SnapshotFacts) -> SnapshotRefusal? {
    if facts.unreadableCount == 0 { return nil }
    let (some, all) = (facts.unreadableCount, facts.readCount)
    return refusal(
      Wording(
        "\(some) of \(all) records could not be read, or have no key, so the rows they are about cannot be told from rows that are gone",
        call:
          "\(some) of \(all) rows of the call were rejected, or have no key, so the rows of the table that they are about cannot be told from rows that are gone"
      ),
      hint: Wording(
        "correct the delivery and run the job again",
        call:
          "BulkOptions.onReject is told why rows were rejected; correct them, give each its key, and call again"
      ))
  }

  private func completenessRefusal(_ facts: SnapshotFacts) -> SnapshotRefusal? {
    let count = facts.readCount
    if let expectedCount = guards.expectedCount, expectedCount != count {
      return refusal(
        "the delivery has \(count) records, and \(expectedCount) were expected",
        hint:
          "deliver it again, or correct \(saying: Wording("expect-count", call: "SweepGuards.expectedCount"))"
      )
    }
    if count == 0 {
      if guards.allowsEmpty { return nil }
      let filtered = facts.filteredCount
      return refusal(
        filtered == 0
          ? "the delivery has no record"
          : "the delivery has no record that \(.where) lets through: \(filtered) of \(filtered) were filtered",
        hint:
          "\(saying: Wording("\(.allowEmpty)", call: "SweepGuards.allowsEmpty")), if that is the whole truth")
    }
    if count < guards.leastRows {
      return refusal(
        "the delivery has \(count) records, less than the \(saying: Wording("min-rows", call: "leastRows")) of \(guards.leastRows)",
        hint: "deliver it again, or lower \(saying: Wording("min-rows", call: "SweepGuards.leastRows"))")
    }
    if let lastCount, Double(count) < guards.leastRatio * Double(lastCount) {
      return refusal(
        "the delivery has \(count) records, and the last one had \(lastCount): less than the min-ratio of "
          + "\(guards.leastRatio)", hint: "deliver it again, or lower min-ratio")
    }
    if guards.suspiciousCounts.contains(count) {
      return refusal(
        "the delivery has exactly \(count) records, which suspicious names: its source may cut it off there",
        hint: "ask the source for more; take \(count) out of suspicious, if that is the whole truth")
    }
    return nil
  }

  private func deletesRefusal(_ facts: SnapshotFacts, table: String) -> SnapshotRefusal? {
    if facts.unseenCount == 0 { return nil }
    let limit: String
    switch guards.maximumDeletes {
    case .count(let most):
      if facts.unseenCount <= most { return nil }
      limit = "\(most)"
    case .percent(let share):
      if facts.hasUnknownRows && share < 100 {
        return refusal(
          "\(facts.unseenCount) rows of table \(table.escapedForTerminal) are not in the delivery; what share that is cannot be "
            + "told, as nobody knows which rows came with a delivery that was refused before",
          hint: deletesHint(facts.unseenCount))
      }
      if Double(facts.unseenCount) * 100 <= share * Double(facts.rowsBefore) { return nil }
      limit = "\(share == share.rounded() ? "\(Int(share))" : "\(share)")%"
    }
    return refusal(
      "\(facts.unseenCount) of \(facts.rowsBefore) rows of table \(table.escapedForTerminal) are not in the delivery, more "
        + "than the \(saying: Wording("max-delete", call: "maximumDeletes")) of \(limit)",
      hint: deletesHint(facts.unseenCount))
  }

  private func deletesHint(_ count: UInt64) -> Wording {
    Wording(
      "look at the delivery; \(.maxDelete, count) lets them go",
      call: "look at the delivery; a count of \(count) as SweepGuards.maximumDeletes lets them go")
  }

  package func refusal(_ reason: Wording, hint: Wording?) -> SnapshotRefusal {
    SnapshotRefusal(reason: reason, hint: hint, isOfSweep: sweep != .none)
  }

  /// The guards in the words of a job file: where they change, a refused delivery is judged again.
  package var guardWords: String {
    let deletes =
      switch guards.maximumDeletes {
      case .count(let most): "\(most)"
      case .percent(let share): "\(share)%"
      }
    var words = [
      "max-delete: \(deletes)", "min-rows: \(guards.leastRows)", "min-ratio: \(guards.leastRatio)",
    ]
    words.append("allow-empty: \(guards.allowsEmpty)")
    if let expectedCount = guards.expectedCount { words.append("expect-count: \(expectedCount)") }
    if !guards.suspiciousCounts.isEmpty { words.append("suspicious: \(guards.suspiciousCounts)") }
    switch sweep {
    case .none: words.append("sweep: none")
    case .hard: words.append("sweep: hard")
    case .soft(let column): words.append("sweep: soft: \(column)")
    }
    if let scope { words.append("scope: \(scope)") }
    if !reading.isEmpty { words.append("options: \(reading)") }
    return words.joined(separator: ", ")
  }
}
