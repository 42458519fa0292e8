/// Lengths of time as people say them.
package enum AgeText {
  /// `3 min`, `26 h`, `4 d`: the largest unit of which there are at least two.
  package static func text(_ seconds: Double) -> String {
    for (name, factor) in [("d", 86_400.0), ("h", 3_600), ("min", 60)] where seconds >= 2 * factor {
      return "\(Int(seconds / factor)) \(name)"
    }
    return "\(Int(seconds)) s"
  }
}
