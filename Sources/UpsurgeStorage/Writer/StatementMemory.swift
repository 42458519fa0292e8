import UpsurgeRecords

/// What compiled statements may take of a run's memory.
///
/// Wide tables make large statements. An upsert of 1,990 columns that are merged has half a megabyte of text. It takes 2 MiB
/// when it is compiled, and ten times as much for as long as SQLite works on its parse tree. A trigger's body is compiled
/// into every statement that fires it.
package struct StatementMemory: Sendable, Equatable {
  /// What `--memory` is, in bytes.
  package var byteCount = 64 << 20

  package init(byteCount: Int = 64 << 20) { self.byteCount = byteCount }

  /// All statements that are kept compiled, as SQLite measures them: a tenth, from 3 to 32 MiB.
  package var cacheByteCount: Int { min(max(byteCount / 10, 3 << 20), 32 << 20) }

  /// One statement while it is compiled. It is given what the page cache holds.
  package var compileByteCount: Int { byteCount / 2 + Self.compileSlack }

  private static let compileSlack = 8 << 20

  /// The smallest memory with which a statement can be compiled that takes so much, in whole MiB.
  static func needed(for compileByteCount: Int) -> Int {
    let byteCount = max(2 * (compileByteCount - compileSlack), 16 << 20)
    return (byteCount + (1 << 20) - 1) >> 20
  }
}

/// What it takes to compile a statement, judged by its text.
///
/// SQLite makes nodes of 72 bytes of the text's words and marks, and copies those of ON CONFLICT once more; the tables of
/// `Benchmarks/run bombs` took 97 to 121 bytes of memory for each. Names are kept as they are.
struct StatementCost {
  /// Bytes that are needed while the statement is compiled, its text and our copy of it included.
  let compileByteCount: Int

  /// Dearer statements are compiled before memory is needed for other things, and tidied up after.
  static let dearByteCount = 4 << 20

  init(_ sql: String) {
    var text = sql
    let tokenCount = text.withUTF8 { Self.tokenCount($0) }
    compileByteCount = Self.byteCountPerToken * tokenCount + 2 * sql.utf8.count
  }

  private static let byteCountPerToken = 121

  /// Words, quoted names and marks; roughly, for speed: a doubled quote counts as two names.
  private static func tokenCount(_ text: UnsafeBufferPointer<UInt8>) -> Int {
    var count = 0
    var isInWord = false
    var quote: UInt8?
    for byte in text {
      if let open = quote {
        if byte == open { quote = nil }
        continue
      }
      let isWordByte =
        byte >= 0x80 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "?")
        || (byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9"))
        || (byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z"))
      if isWordByte {
        if !isInWord { count += 1 }
      } else if byte != UInt8(ascii: " ") && byte != UInt8(ascii: "\n") {
        count += 1
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") { quote = byte }
      }
      isInWord = isWordByte
    }
    return count
  }
}
