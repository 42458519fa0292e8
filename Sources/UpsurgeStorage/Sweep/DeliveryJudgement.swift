import UpsurgePlan
import UpsurgeRecords

/// Whether a delivery is accepted: by its guards, and by what is remembered of deliveries that were refused. Every store asks it.
package struct DeliveryJudgement {
  /// What is decided.
  package struct Verdict {
    /// Why the delivery is refused; nil where nothing speaks against it.
    package var refusal: UpsurgeError?
    /// Whether it was let through by its digest.
    package var isByDigest = false
    /// The digest that lets it through, where it was refused.
    package var refusedDigest: String?
    /// What is to be remembered of it.
    package var note: RefusedDelivery?

    package init(refusal: UpsurgeError? = nil, isByDigest: Bool = false) {
      (self.refusal, self.isByDigest) = (refusal, isByDigest)
    }
  }

  private let rules: SnapshotRules
  private let refused: [RefusedDelivery]
  private let contentHash: UInt64?
  private let isTrial: Bool

  /// - Parameters:
  ///   - refused: the feed's deliveries that were refused.
  ///   - contentHash: what distinguishes the delivery's bytes from those of others; nil where nobody knows.
  ///   - isTrial: whether nothing is to be remembered.
  package init(_ rules: SnapshotRules, refused: [RefusedDelivery], contentHash: UInt64?, isTrial: Bool) {
    (self.rules, self.refused, self.contentHash, self.isTrial) = (rules, refused, contentHash, isTrial)
  }

  /// Judges the delivery, unless its digest was given or it was refused before.
  /// - Parameters:
  ///   - judge: what the guards say; is told whether a refused delivery has brought rows that nobody knows.
  ///   - keepRows: notes the rows of a delivery that is refused; false where nobody can tell which they are.
  package func verdict<Failure: Error>(
    _ judge: (_ hasUnknownRows: Bool) throws(Failure) -> SnapshotRefusal?,
    keepRows: () throws(Failure) -> Bool
  ) throws(Failure) -> Verdict {
    let known = contentHash.flatMap { hash in refused.first { $0.contentHash == hash } }
    if let known, known.digest == rules.acceptedDigest { return Verdict(isByDigest: true) }
    let again = known.map { rules.refusalAgain($0) }
    var found = try judge(refused.contains { !$0.areRowsKnown })
    if found == nil, known?.guards == rules.guardWords { found = again }
    guard let found else { return Verdict() }
    var verdict = Verdict(refusal: found.error)
    if isTrial {
      verdict.refusal?.addWay(out: known?.digest)
      return verdict
    }
    var delivery = RefusedDelivery(
      contentHash: contentHash, digest: known?.digest ?? RefusedDelivery.newDigest(of: contentHash ?? 0),
      guards: rules.guardWords, reason: found.reason.text, areRowsKnown: try keepRows())
    if let known, found.reason.text == again?.reason.text { delivery.reason = known.reason }
    // Without a hash it would not be known again, so there is only to say that its rows are not known.
    if contentHash != nil || !delivery.areRowsKnown { verdict.note = delivery }
    if contentHash != nil {
      verdict.refusedDigest = delivery.digest
      verdict.refusal?.addWay(out: delivery.digest)
    }
    return verdict
  }

  /// What is remembered of a delivery that the guards let through, and whose rows could not be swept.
  package var unsweptNote: RefusedDelivery {
    RefusedDelivery(
      digest: RefusedDelivery.newDigest(of: 0), guards: rules.guardWords, reason: "rows could not be swept",
      areRowsKnown: false)
  }
}

extension RefusedDelivery {
  /// What is remembered of a delivery some of whose records came by a replay: nobody knows which rows those are.
  package static var storedByReplay: RefusedDelivery {
    RefusedDelivery(
      digest: newDigest(of: 0), guards: "", reason: "records of it were stored by a replay", areRowsKnown: false)
  }

  /// A digest for a delivery that is refused for the first time.
  package static func newDigest(of contentHash: UInt64) -> String {
    let parts = [contentHash, UInt64.random(in: 0 ... .max)]
    let digits = String(parts.withUnsafeBytes { ContentHash.hash($0) }, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

extension SnapshotRules {
  /// What the refusal of a delivery says that comes again, and that the guards would now let through: only other guards
  /// are asked again.
  fileprivate func refusalAgain(_ delivery: RefusedDelivery) -> SnapshotRefusal {
    refusal(
      "this delivery was refused at \(delivery.refusedAt.escapedForTerminal): \(delivery.reason.escapedForTerminal)",
      hint: nil)
  }
}

extension UpsurgeError {
  /// Says how a delivery is let through all the same.
  /// - Parameter digest: nil where that is not known.
  fileprivate mutating func addWay(out digest: String?) {
    let way: Wording =
      digest.map { "\(.acceptDelivery, $0.escapedForTerminal) lets this one delivery through" }
      ?? "a run without \(.dryRun) prints the digest for \(.acceptDelivery), which lets one delivery through"
    remedy = remedy.map { "\(saying: $0); \(saying: way)" } ?? way
  }
}
