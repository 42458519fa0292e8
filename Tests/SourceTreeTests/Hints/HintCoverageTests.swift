import TestSupport
import Testing

/// A hint is a promise: each one in the sources is in the table, and what the table says of it is true.
@Suite("Hints")
struct HintCoverageTests {
  @Test("Each hint of the sources is in the table, and the table has no others")
  func coverage() throws {
    let hints = try HintSources.all()
    #expect(hints.count > 400)
    let followed = Set(HintTable.scenarios.flatMap(\.hints))
    // A hint that nobody has followed is one that may lie.
    let known = followed.union(HintTable.outside.keys)
    let missing = hints.filter { !known.contains($0.text) }
    #expect(missing.isEmpty, "not in the table:\n\(missing.map { "\($0.file): \($0.text)" }.joined(separator: "\n"))")
    let stale = known.subtracting(hints.map(\.text))
    #expect(stale.isEmpty, "in no source any more:\n\(stale.sorted().joined(separator: "\n"))")
    let twice = followed.intersection(HintTable.outside.keys)
    #expect(twice.isEmpty, "followed, and said not to be:\n\(twice.sorted().joined(separator: "\n"))")
  }

  /// A promise that an option helps is to be tried, not believed.
  @Test("What no test follows says why in a sentence")
  func reasons() {
    for (hint, reason) in HintTable.outside {
      #expect(reason.count > 10 && reason.count < 120, "\(hint)")
    }
  }

  @Test("Following a hint ends right", arguments: HintTable.scenarios)
  func follow(scenario: HintScenario) throws {
    let walk = HintWalk(scenario)
    try walk.follow()
    #expect(walk.faults.isEmpty, "\(walk.faults.joined(separator: "\n"))")
  }

  @Test("The names of scenarios are different")
  func names() {
    let names = HintTable.scenarios.map(\.name)
    #expect(Set(names).count == names.count)
  }
}
