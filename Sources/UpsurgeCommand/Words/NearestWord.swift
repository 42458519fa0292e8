/// Finds what somebody meant who has mistyped a word.
enum NearestWord {
  /// The known word that differs least, if it differs in no more than a third of its letters.
  static func find(_ word: String, in known: [String]) -> String? {
    let word = word.lowercased()
    if word.utf8.count > 40 { return nil }
    if let start = known.first(where: { word.utf8.count > 2 && $0.hasPrefix(word + "-") }) { return start }
    let ranked = known.map { ($0, distance(Array(word.utf8), Array($0.utf8))) }
    guard let best = ranked.min(by: { $0.1 < $1.1 }) else { return nil }
    return best.1 <= max(1, best.0.utf8.count / 3) ? best.0 : nil
  }

  /// Letters to insert, delete, replace or swap with their neighbour (Damerau).
  private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var before: [Int] = []
    var last = Array(0...right.count)
    for (i, letter) in left.enumerated() {
      var row = [i + 1]
      for (j, other) in right.enumerated() {
        var least = min(row[j] + 1, last[j + 1] + 1, last[j] + (letter == other ? 0 : 1))
        if i > 0, j > 0, letter == right[j - 1], left[i - 1] == other {
          least = min(least, before[j - 1] + 1)
        }
        row.append(least)
      }
      (before, last) = (last, row)
    }
    return last[right.count]
  }
}
