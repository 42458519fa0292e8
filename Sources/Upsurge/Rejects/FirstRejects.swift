/// The first rejects of a run that keeps none: all that is left of them.
package struct FirstRejects {
  package private(set) var list: [Reject] = []

  package init() {}

  /// So many are shown with the ledger, which counts the rest.
  static let limit = 3

  /// Takes one, without the bytes of its record.
  package mutating func take(_ reject: Reject) {
    if list.count >= Self.limit { return }
    var reject = reject
    (reject.raw, reject.isRawCut) = ([], !reject.raw.isEmpty)
    list.append(reject)
  }
}
