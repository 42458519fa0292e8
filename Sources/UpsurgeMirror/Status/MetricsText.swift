import Upsurge

/// Numbers of a run in Prometheus' text format (https://prometheus.io/docs/instrumenting/exposition_formats/).
public enum MetricsText {
  /// The text.
  /// - Parameters:
  ///   - summary: what the run did.
  ///   - feeds: how the tables stand after the run.
  public static func text(_ summary: MirrorSummary, _ feeds: [FeedStatus]) -> String {
    var out = ""
    family(&out, "upsurge_mirror_records", "gauge", "Records of the last run by what became of them.") {
      summary.tables.flatMap { table in
        table.ledger.entries.filter { $0.word != "read" && $0.word != "swept" }.map {
          ("table=\(quoted(table.name)),outcome=\(quoted($0.word))", Double($0.count))
        }
      }
    }
    family(&out, "upsurge_mirror_swept_rows", "gauge", "Rows that the last run has removed or marked.") {
      summary.tables.map { ("table=\(quoted($0.name))", Double($0.ledger.swept)) }
    }
    family(&out, "upsurge_mirror_exit_code", "gauge", "Exit code of the last run.") {
      summary.tables.map { ("table=\(quoted($0.name))", Double($0.exitCode)) }
    }
    family(&out, "upsurge_mirror_failures", "gauge", "Runs that did not go well, one after the other.") {
      feeds.map { (labels(of: $0), Double($0.failureCount)) }
    }
    family(
      &out, "upsurge_mirror_good_timestamp_seconds", "gauge", "When the table was last in step with its feed."
    ) {
      feeds.compactMap { feed in feed.goodTime.map { (labels(of: feed), $0) } }
    }
    family(&out, "upsurge_mirror_duration_seconds", "gauge", "Seconds of the last run.") {
      [("", summary.seconds)]
    }
    return out
  }

  private static func labels(of feed: FeedStatus) -> String {
    "table=\(quoted(feed.table))" + (feed.ownedBy.map { ",owned_by=\(quoted($0))" } ?? "")
  }

  private static func family(
    _ out: inout String, _ name: String, _ kind: String, _ help: String, samples: () -> [(String, Double)]
  ) {
    let samples = samples()
    if samples.isEmpty { return }
    out += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
    for (labels, value) in samples {
      let number = value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
      out += labels.isEmpty ? "\(name) \(number)\n" : "\(name){\(labels)} \(number)\n"
    }
  }

  private static func quoted(_ text: String) -> String {
    var out = "\""
    for character in text.unicodeScalars {
      switch character {
      case "\\": out += "\\\\"
      case "\"": out += "\\\""
      case "\n": out += "\\n"
      default: out.unicodeScalars.append(character)
      }
    }
    return out + "\""
  }
}
