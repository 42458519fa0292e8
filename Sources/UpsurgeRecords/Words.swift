/// Numbers as people read them.
package enum Words {
  /// `1,690,784`
  package static func count(_ value: UInt64) -> String {
    let digits = Array(String(value))
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0 && (digits.count - index) % 3 == 0 { text += "," }
      text.append(digit)
    }
    return text
  }

  /// `1 record`, `1,690,784 records`
  package static func count(_ value: UInt64, _ noun: String) -> String {
    "\(count(value)) \(noun)\(value == 1 ? "" : "s")"
  }

  /// `28.6 MiB`
  package static func bytes(_ value: Double) -> String {
    for (shift, unit) in [(30, "GiB"), (20, "MiB"), (10, "KiB")] where value >= Double(1 << shift) {
      return "\(tenths(value / Double(1 << shift))) \(unit)"
    }
    return "\(Int(value)) B"
  }

  /// `0.42 s`, `12.3 s`, `2:05 min`
  package static func seconds(_ value: Double) -> String {
    if value >= 120 { return "\(duration(value)) min" }
    if value >= 10 { return "\(tenths(value)) s" }
    let hundredths = Int((value * 100).rounded())
    return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100) s"
  }

  /// `2:05`
  package static func duration(_ value: Double) -> String {
    let seconds = Int(min(value, 359_999).rounded())
    let rest = seconds % 60
    if seconds >= 3600 {
      let minutes = seconds / 60 % 60
      return "\(seconds / 3600):\(minutes < 10 ? "0" : "")\(minutes):\(rest < 10 ? "0" : "")\(rest)"
    }
    return "\(seconds / 60):\(rest < 10 ? "0" : "")\(rest)"
  }

  private static func tenths(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
