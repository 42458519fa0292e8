import Upsurge

/// Where the time of a run went, as a table for people.
///
///     time: 2.36 s
///       reading thread   read                    0.12 s    5 %  #
///                        parse                   0.61 s   26 %  #####
///                        wait for the writer     1.50 s   64 %  #############
///       writing thread   store                   1.90 s   81 %  ################  <- the bottleneck
enum TimeText {
  /// - Parameter advice: nil where only the table is wanted.
  static func text(_ facts: TimeFacts, _ advice: TimeAdvice?) -> String {
    let reading = facts.stages.filter { RunStage.reading.contains($0.name) }
    let writing = facts.stages.filter { !RunStage.reading.contains($0.name) }
    var lines = [
      "time: \(Words.seconds(facts.seconds))" + (reading.isEmpty ? "" : ", two threads side by side")
    ]
    for (title, stages, rest) in [
      ("reading thread", reading, "not at work"), ("writing thread", writing, "all else"),
    ] where !stages.isEmpty {
      // Only once, where something was done again.
      let merged = Self.merged(stages)
      let left = max(facts.seconds - merged.reduce(0) { $0 + $1.seconds }, 0)
      var lead = title
      for (name, seconds) in merged + [(rest, left)] {
        let isBottleneck = name == advice?.bottleneck
        lines.append(line(lead, RunStage.words(name), seconds, of: facts.seconds, isBottleneck: isBottleneck))
        lead = ""
      }
    }
    if let advice { lines += words(advice) }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func merged(_ stages: [(name: String, seconds: Double)]) -> [(name: String, seconds: Double)]
  {
    var merged: [(name: String, seconds: Double)] = []
    for stage in stages {
      if let index = merged.firstIndex(where: { $0.name == stage.name }) {
        merged[index].seconds += stage.seconds
      } else {
        merged.append(stage)
      }
    }
    return merged
  }

  private static func line(
    _ lead: String, _ name: String, _ seconds: Double, of total: Double, isBottleneck: Bool
  ) -> String {
    let share = total > 0 ? min(max(seconds / total, 0), 1) : 0
    let bar = String(repeating: "#", count: Int((share * 20).rounded()))
    let text =
      "  \(padded(lead, 17))\(padded(name, 22))\(padded(Words.seconds(max(seconds, 0)), 9, isRight: true))"
      + "\(padded("\(Int((share * 100).rounded())) %", 7, isRight: true))"
    return text + (bar.isEmpty ? "" : "  " + bar) + (isBottleneck ? "  <- the bottleneck" : "")
  }

  private static func words(_ advice: TimeAdvice) -> [String] {
    guard let bottleneck = advice.bottleneck else { return [] }
    let share = "\(Int((advice.share * 100).rounded())) % of the time"
    return ["  bottleneck: \(RunStage.words(bottleneck)), \(share)"]
      + advice.lines.map { line in
        "    "
          + [line.stage.map(RunStage.words), line.option?.text, line.text.text].compactMap { $0 }.joined(separator: ": ")
      }
  }

  private static func padded(_ text: String, _ width: Int, isRight: Bool = false) -> String {
    let padding = String(repeating: " ", count: max(width - text.count, 0))
    return isRight ? padding + text : text + padding
  }
}
