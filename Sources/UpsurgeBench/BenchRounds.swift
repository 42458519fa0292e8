import Upsurge

/// Which contender of a benchmark runs when: all in turn, each round beginning with another one.
///
///     0 1 2   1 2 0   2 0 1
package struct BenchRounds {
  package let count: Int
  /// Whether a person has said how many, so that all are run however long it takes.
  private let isGiven: Bool
  private let watch = Stopwatch()
  /// Seconds that each contender has run so far.
  private var spent: [Double]

  package init(_ count: Int?, contenderCount: Int) {
    self.count = count ?? BenchJob.defaultRoundCount
    isGiven = count != nil
    spent = Array(repeating: 0, count: contenderCount)
  }

  /// The contenders of a round, in their order; nil where the rounds before have taken too long for another one.
  /// - Parameter round: from 0.
  package func contenders(of round: Int) -> [Int]? {
    if !isGiven && round > 0 && watch.seconds > BenchJob.secondsBeforeLastRound { return nil }
    return spent.indices.map { ($0 + round) % spent.count }
  }

  /// Whether a contender has run for so long that it is left out from now on.
  package func hasSpent(_ contender: Int) -> Bool {
    !isGiven && spent[contender] > BenchJob.secondsPerContender
  }

  package mutating func add(_ seconds: Double, to contender: Int) { spent[contender] += seconds }
}
