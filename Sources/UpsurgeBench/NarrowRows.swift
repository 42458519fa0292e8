import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The rows that a benchmark makes by itself: 6 columns, 60 bytes, an ascending integer key.
///
///     id,name,category,quantity,price,updated_at
///     1,Liam Tanaka,books,280,6090.15,2024-03-01T20:48:50
///
/// The numbers are SplitMix64's (Steele, Lea, Flood 2014), one stream a row: the same bytes on every machine. The last
/// three columns come from a stream of their own. A later delivery has another one for the rows that have changed.
package struct NarrowRows: Sendable {
  package let count: UInt64
  package let seed: UInt64
  /// Whether these rows are the later delivery.
  package let isChanged: Bool
  /// How many rows of a later delivery there are for each that has changed: 100 for one in a hundred.
  package let rowsPerChange: UInt64

  package init(count: UInt64, seed: UInt64 = 1, isChanged: Bool = false, rowsPerChange: UInt64 = 1) {
    self.count = count
    self.seed = seed
    self.isChanged = isChanged
    self.rowsPerChange = max(rowsPerChange, 1)
  }

  package static let header = "id,name,category,quantity,price,updated_at\n"

  /// Writes the rows as CSV.
  /// - Parameter name: of the file in the folder.
  /// - Returns: the path.
  /// - Throws: `cannotCreate`; `interrupted`.
  package func write(
    to folder: ScratchFolder, _ name: String, isCancelled: () -> Bool
  ) throws(UpsurgeError) -> String {
    let path = try folder.write("", to: name)
    let descriptor = open(path, O_WRONLY | O_CLOEXEC)
    defer { close(descriptor) }
    var text = Array(Self.header.utf8)
    for row in 0..<count {
      append(row + 1, to: &text)
      if text.count >= 1 << 20 {
        if isCancelled() { throw UpsurgeError(.interrupted, "the benchmark was interrupted") }
        try folder.write(text, to: descriptor, name)
        text.removeAll(keepingCapacity: true)
      }
    }
    try folder.write(text, to: descriptor, name)
    fsync(descriptor)
    return path
  }

  /// Header and rows as one text; for few rows.
  package var text: String {
    var text = Array(Self.header.utf8)
    for row in 0..<count { append(row + 1, to: &text) }
    return String(decoding: text, as: UTF8.self)
  }

  /// The line of one row.
  func append(_ row: UInt64, to text: inout [UInt8]) {
    var stream = RandomStream(seed: seed, row: row)
    let hasChanged = isChanged && row % rowsPerChange == 0
    var changeable = RandomStream(seed: seed &+ (hasChanged ? 2 : 1), row: row)
    text += String(row).utf8
    text.append(UInt8(ascii: ","))
    text += Self.firstNames[stream.below(Self.firstNames.count)].utf8
    text.append(UInt8(ascii: " "))
    text += Self.lastNames[stream.below(Self.lastNames.count)].utf8
    text.append(UInt8(ascii: ","))
    text += Self.categories[stream.below(Self.categories.count)].utf8
    text.append(UInt8(ascii: ","))
    text += String(changeable.below(1000)).utf8
    text.append(UInt8(ascii: ","))
    let cents = changeable.below(1_000_000)
    text += String(cents / 100).utf8
    text.append(UInt8(ascii: "."))
    Self.append(twoDigits: cents % 100, to: &text)
    text.append(UInt8(ascii: ","))
    appendTime(&changeable, to: &text)
    text.append(0x0A)
  }

  /// A second of 2020 to 2025; never the 29th to 31st, so that every month serves.
  private func appendTime(_ stream: inout RandomStream, to text: inout [UInt8]) {
    text += "202".utf8
    text += String(stream.below(6)).utf8
    for (separator, count, first) in [("-", 12, 1), ("-", 28, 1), ("T", 24, 0), (":", 60, 0), (":", 60, 0)] {
      text += separator.utf8
      Self.append(twoDigits: first + stream.below(count), to: &text)
    }
  }

  private static func append(twoDigits value: Int, to text: inout [UInt8]) {
    text.append(UInt8(ascii: "0") + UInt8(value / 10))
    text.append(UInt8(ascii: "0") + UInt8(value % 10))
  }

  private struct RandomStream {
    private var state: UInt64

    init(seed: UInt64, row: UInt64) { state = Self.mix(seed &+ 1) ^ Self.mix(row) }

    mutating func below(_ limit: Int) -> Int {
      state &+= 0x9E37_79B9_7F4A_7C15
      return Int(((Self.mix(state) >> 32) &* UInt64(limit)) >> 32)
    }

    private static func mix(_ value: UInt64) -> UInt64 {
      var mixed = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }

  private static let firstNames = [
    "Ada", "Amir", "Bruno", "Chloé", "Dinah", "Emeka", "Fatima", "Grace", "Hiro", "Ingrid", "Jorge",
    "Katarzyna",
    "Liam", "Mei", "Nadia", "Oluwaseun", "Priya", "Quentin", "Rosa", "Søren", "Tomás", "Uma", "Viktor",
    "Yasmin",
  ]
  private static let lastNames = [
    "Andersen", "Baker", "Castillo", "Dubois", "Eriksen", "Fischer", "Garcia", "Haddad", "Ivanova", "Johnson",
    "Kowalski", "Larsen", "Müller", "Nakamura", "Okafor", "Petrov", "Quinn", "Rossi", "Schmidt", "Tanaka",
    "Underwood", "Vasquez", "Williams", "Zhang",
  ]
  private static let categories = [
    "books", "garden", "grocery", "hardware", "kitchen", "lighting", "music", "office", "outdoor", "sports",
    "toys",
  ]
}
