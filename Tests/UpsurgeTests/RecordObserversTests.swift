import Testing
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeStorage

@testable import Upsurge

@Suite struct RecordObserversTests {
  private final class Witness: RecordObserver {
    var heard: [String] = []

    func willUpdate(byTarget target: Int) { heard.append("update \(target)") }

    func willIgnore() { heard.append("ignore") }

    func observe(_ outcome: Outcome, at position: Position, before: [SQLValue]?, after: [SQLValue]?) {
      heard.append(outcome.rawValue)
    }
  }

  @Test func eachHearsHowARecordGoesIn() throws {
    let witnesses = [Witness(), Witness()]
    let joined = try #require(RecordObservers.joining(witnesses))
    joined.willUpdate(byTarget: 1)
    try joined.observe(.updated, at: Position(file: "in"), before: nil, after: nil)
    joined.willIgnore()
    try joined.observe(.ignored, at: Position(file: "in"), before: nil, after: nil)
    for witness in witnesses { #expect(witness.heard == ["update 1", "updated", "ignore", "ignored"]) }
  }
}
