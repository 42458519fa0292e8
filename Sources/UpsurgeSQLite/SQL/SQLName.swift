import CSQLite
import UpsurgeRecords

/// Names and text as SQL spells them.
package enum SQLName {
  /// A name in double quotes, so that any text but NUL is only ever a name.
  /// - Throws: `usage` for a name with a NUL byte, at which SQLite would cut it.
  package static func quote(_ name: String) throws(UpsurgeError) -> String {
    if name.utf8.contains(0) {
      throw UpsurgeError(
        .usage, "the name \(name.escapedForTerminal) holds a NUL byte, which SQLite cannot keep in a name",
        hint:
          "\(.names, "A,B,C") gives the fields of CSV other names; \(.columns, "A,B") leaves the column out")
    }
    return "\"" + doubled(name, "\"") + "\""
  }

  /// Several names in double quotes, with commas.
  package static func quoteList(_ names: [String]) throws(UpsurgeError) -> String {
    var text = ""
    for name in names { text += (text.isEmpty ? "" : ", ") + (try quote(name)) }
    return text
  }

  /// A name as people write it in SQL, in quotes where it needs them; for messages alone.
  package static func written(_ name: String) -> String {
    let isWord =
      name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains(lowered($0)) || $0 == 0x5F }
      && name.utf8.first.map { !(0x30...0x39).contains($0) } ?? false
    let isPlain = isWord && sqlite3_keyword_check(name, Int32(clamping: name.utf8.count)) == 0
    return isPlain ? name : "\"" + doubled(name, "\"") + "\""
  }

  /// A text literal in single quotes; NUL is refused as in `quote`.
  package static func literal(_ text: String) throws(UpsurgeError) -> String {
    if text.utf8.contains(0) {
      throw UpsurgeError(
        .usage, "the text \(text.escapedForTerminal) holds a NUL byte, which SQL cannot spell")
    }
    return "'" + doubled(text, "'") + "'"
  }

  /// Whether two names are one to SQLite, which folds ASCII letters only.
  package static func isSame(_ left: String, _ right: String) -> Bool {
    if left.utf8.count != right.utf8.count { return false }
    let isSame = left.utf8.withContiguousStorageIfAvailable { left in
      right.utf8.withContiguousStorageIfAvailable { right in
        // From the end, where names of one table differ most.
        left.indices.reversed().allSatisfy {
          left[$0] == right[$0] || lowered(left[$0]) == lowered(right[$0])
        }
      }
    }
    return (isSame ?? nil) ?? zip(left.utf8, right.utf8).allSatisfy { lowered($0) == lowered($1) }
  }

  /// A name's key in look-ups, as SQLite compares names; not to be shown.
  package static func folded(_ name: String) -> String { name.nameKey }

  /// Text with its ASCII letters in lower case, as NOCASE compares it.
  package static func lowered(_ text: String) -> String {
    String(decoding: text.utf8.map(lowered), as: UTF8.self)
  }

  private static func lowered(_ byte: UInt8) -> UInt8 {
    byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
  }

  private static func doubled(_ text: String, _ quote: Character) -> String {
    if let byte = quote.asciiValue, !text.utf8.contains(byte) { return text }
    var result = ""
    // Scalars, not characters: a quote followed by a combining mark is one character, but still a quote.
    for scalar in text.unicodeScalars {
      result.unicodeScalars.append(scalar)
      if Character(scalar) == quote { result.unicodeScalars.append(scalar) }
    }
    return result
  }
}
