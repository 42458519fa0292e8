import Testing
import UpsurgeRecords

@testable import UpsurgePlan

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Random tables, rules and records: table, ledger and rejects are those of the oracle, however the run is cut.
@Suite struct ModelTests {
  private static func environment(_ name: String) -> UInt64? {
    getenv(name).flatMap { UInt64(String(cString: $0)) }
  }

  /// `UPSURGE_MODEL_SEEDS` says how many seeds, `UPSURGE_SEED` the first.
  static let seeds: Range<UInt64> = {
    let first = environment("UPSURGE_SEED") ?? 0
    return first..<first + (environment("UPSURGE_MODEL_SEEDS") ?? (environment("UPSURGE_SEED") == nil ? 120 : 1))
  }()

  /// `UPSURGE_FAILURES` says how many seeds may fail before the test stops.
  static let mostFailures = environment("UPSURGE_FAILURES") ?? 1

  @Test func equalsOneByOne() throws {
    var failures = 0
    var total = Ledger()
    var forms: Set<StatementForm> = []
    var sortedCount = 0
    seeds: for seed in Self.seeds {
      let example = ModelCase(seed: seed)
      let expected: ModelOutcome
      do { expected = try example.expected() } catch {
        Issue.record("seed \(seed): the oracle failed: \(error)\n\(example)")
        return
      }
      total += expected.ledger
      for cut in example.cuts {
        let difference: String?
        do {
          let actual = try example.actual(cut)
          forms.formUnion(actual.forms)
          sortedCount += actual.sortedCount
          difference = ModelCase.difference(actual.outcome, expected)
        } catch {
          difference = "the engine failed: \(error)"
        }
        if difference == nil { continue }
        let small = example.shrunk(cut)
        Issue.record(
          """
          seed \(seed) (UPSURGE_SEED=\(seed)), \(cut)
          \(small)
          \(small.difference(cut) ?? difference ?? "")
          """)
        failures += 1
        if failures == Self.mostFailures { return }
        continue seeds
      }
    }
    // A generator that no longer reaches something would prove nothing.
    if Self.seeds.count >= 120 {
      #expect(forms.count == 3, "the tables reached only \(forms)")
      #expect(sortedCount > Self.seeds.count * 10 / 3, "only \(sortedCount) records were sorted")
      for entry in total.entries where !["quarantined", "swept", "filtered"].contains(entry.word) {
        #expect(entry.count > 0, "no record was \(entry.word)")
      }
    }
  }
}
