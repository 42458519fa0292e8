import ArgumentParser

/// How long a lock is waited for: `5000` milliseconds, or a number with its unit: `500ms`, `5s`, `2min`, `1h`.
struct LockTime: ExpressibleByArgument, Sendable {
  var milliseconds: Int32

  init(milliseconds: Int32) { self.milliseconds = milliseconds }

  init?(argument: String) {
    let digits = argument.prefix { ("0"..."9").contains($0) }
    let units: [Substring: Int] = ["": 1, "ms": 1, "s": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000]
    guard let number = Int(digits), let unit = units[argument.dropFirst(digits.count)] else { return nil }
    let (product, overflow) = number.multipliedReportingOverflow(by: unit)
    guard !overflow, let milliseconds = Int32(exactly: product) else { return nil }
    self.milliseconds = milliseconds
  }

  var defaultValueDescription: String { "\(milliseconds)" }
}
