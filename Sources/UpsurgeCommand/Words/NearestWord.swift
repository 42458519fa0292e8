/// Finds what somebody meant who has mistyped a word.
enum NearestWord {
  /// The known word that begins so, or that differs least, if it differs in no more than a third of its letters.
  static func find(_ word: String, in known: [String]) -> String? {
    let word = word.lowercased()
    if word.utf8.count > 40 { return nil }
    if let start = known.first(where: { word.utf8.count > 2 && $0.hasPrefix(word + "-") }) { return start }
    let starts = known.filter { word.utf8.count > 3 && $0.lowercased().hasPrefix(word) }
    if starts.count == 1 { return starts[0] }
    let ranked = known.filter { !isAnother(word, than: $0) }.map { ($0, distance(letters(word), letters($0))) }
    guard let best = ranked.min(by: { $0.1 < $1.1 }) else { return nil }
    return best.1 <= max(1, letters(best.0).count / 3) ? best.0 : nil
  }

  /// Whether two words of three letters differ in a letter: `sep` is not `set` mistyped.
  private static func isAnother(_ word: String, than known: String) -> Bool {
    word.utf8.count == known.utf8.count && word.utf8.count < 4 && word.utf8.sorted() != known.lowercased().utf8.sorted()
  }

  /// What a word is compared by: `uft8` is `utf-8` mistyped.
  private static func letters(_ word: String) -> [UInt8] {
    word.lowercased().utf8.filter { !"-_".utf8.contains($0) }
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
