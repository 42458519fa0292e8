import ArgumentParser

/// How long something may take, or has taken: `30s`, `30m` or `30min`, `2h`, `2d`.
struct TimeLength: ExpressibleByArgument, Sendable {
  var seconds: Double

  init(seconds: Double) { self.seconds = seconds }

  init?(argument: String) {
    let units: [(String, Double)] = [("min", 60), ("m", 60), ("h", 3_600), ("d", 86_400), ("s", 1)]
    guard let (name, factor) = units.first(where: { argument.hasSuffix($0.0) }),
      let number = Double(argument.dropLast(name.count)), number > 0, number.isFinite
    else { return nil }
    // More seconds than a century has are no length of time, and could not be counted in milliseconds.
    seconds = min(number * factor, 3.2e9)
  }

  var defaultValueDescription: String { "\(Int(seconds))s" }
}
