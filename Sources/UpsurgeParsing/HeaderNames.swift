import UpsurgeRecords

/// Column names from header fields: trimmed, not empty, and unique as SQLite sees it (ASCII letters of either
/// case are the same).
package struct HeaderNames: Sendable, Equatable {
  /// A name that could not stay as it was.
  package struct Renaming: Sendable, Equatable {
    /// Which field, from 0.
    package var index: Int
    package var original: String
    package var new: String

    package init(index: Int, original: String, new: String) {
      self.index = index
      self.original = original
      self.new = new
    }
  }

  /// The most fields of a header, twice what SQLite can be built to take as columns.
  package static let fieldLimit = 65_536

  package private(set) var names: [String] = []
  package private(set) var renamings: [Renaming] = []

  /// Names as a header gives them: a name that came before gets `_2`, `_3`...; an empty one becomes `column_N`.
  /// A name that is only trimmed is not counted as renamed.
  package init(fields: [String]) {
    let trimmed = fields.map(HeaderNames.trim)
    // Names that stand in the header come first: `a,a,a_2` must not take the third one's name away.
    let given = Set(trimmed.map(\.nameKey))
    var taken: Set<String> = []
    // A name that stands there many times is not counted from 2 each time.
    var nextNumbers: [String: Int] = [:]
    for (index, name) in trimmed.enumerated() {
      let base = name.isEmpty ? "column_\(index + 1)" : name
      var new = base
      let key = base.nameKey
      var number = taken.contains(key) ? nextNumbers[key, default: 2] : 2
      while taken.contains(new.nameKey) || (new != name && given.contains(new.nameKey)) {
        new = "\(base)_\(number)"
        number += 1
      }
      if number > 2 { nextNumbers[key] = number }
      taken.insert(new.nameKey)
      names.append(new)
      if new != name { renamings.append(Renaming(index: index, original: name, new: new)) }
    }
  }

  /// Names where there is no header: `c1`, `c2`...
  package init(count: Int) {
    names = (0..<count).map { "c\($0 + 1)" }
  }

  /// Names that are different and stay as they are; only empty ones become `column_N`, or one that is free.
  init(unnamedIn given: [String]) {
    names = given
    var taken = Set(given.map(\.nameKey))
    for (index, name) in given.enumerated() where name.isEmpty {
      var new = "column_\(index + 1)"
      var number = 2
      while !taken.insert(new.nameKey).inserted {
        new = "column_\(index + 1)_\(number)"
        number += 1
      }
      names[index] = new
      renamings.append(Renaming(index: index, original: name, new: new))
    }
  }

  static func trim(_ name: String) -> String {
    let scalars = name.unicodeScalars
    guard let first = scalars.firstIndex(where: { !isBlank($0) }),
      let last = scalars.lastIndex(where: { !isBlank($0) })
    else { return "" }
    return String(scalars[first...last])
  }

  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isWhitespace || scalar == "\u{FEFF}" || scalar == "\0"
  }
}
