/// The first 100 bytes of a database file (https://www.sqlite.org/fileformat2.html#the_database_header); none of an
/// empty file.
struct HeaderBytes: Equatable {
  var bytes: [UInt8]

  static let byteCount = 100

  /// Counts the transactions that have changed the file, unless they went to a log.
  var changeCounter: UInt32 {
    bytes.count < 28 ? 0 : bytes[24..<28].reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// Whether the two differ at most in what a switch of the journal mode writes: the versions that read and write
  /// it, the change counter, the number of pages, and which SQLite wrote last.
  func isSame(butForSwitchesTo other: HeaderBytes) -> Bool {
    guard bytes.count == other.bytes.count else { return false }
    return bytes.indices.allSatisfy { place in
      switch place {
      case 18...19, 24...31, 92...99: true
      default: bytes[place] == other.bytes[place]
      }
    }
  }
}
