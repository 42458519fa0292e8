import UpsurgeBench

/// What stands in the table when rows come, and what of them has changed.
package enum ServerBenchSuite: String, Sendable, CaseIterable {
  /// All rows go into a new table.
  case new
  /// All rows are in the table already, with the same values.
  case unchanged
  /// All rows are in the table already, and one in a hundred has changed.
  case fewChanged = "few-changed"
  /// All rows are in the table already, and each has changed.
  case changed

  /// The rows that come.
  var delivery: BenchDelivery {
    switch self {
    case .new, .unchanged: .first
    case .fewChanged: .fewChanged
    case .changed: .allChanged
    }
  }

  /// As a heading.
  package var title: String {
    switch self {
    case .new: "into a new table"
    case .unchanged: "same rows again"
    case .fewChanged: "1 % changed"
    case .changed: "all changed"
    }
  }
}

/// Rows of a benchmark: what is there first, and what comes later.
enum BenchDelivery: String, CaseIterable {
  case first
  case fewChanged = "few_changed"
  case allChanged = "all_changed"

  /// The file in the scratch folder.
  var fileName: String { rawValue + ".csv" }

  /// The rows that the file is made of.
  func rows(_ count: UInt64) -> NarrowRows {
    switch self {
    case .first: NarrowRows(count: count)
    case .fewChanged: NarrowRows(count: count, isChanged: true, rowsPerChange: 100)
    case .allChanged: NarrowRows(count: count, isChanged: true)
    }
  }
}
