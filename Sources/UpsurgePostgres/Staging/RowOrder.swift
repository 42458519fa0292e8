/// In which order rows are sent, and in which parts they are stored: within a part no key comes twice.
///
/// The place of a row is its `ord` on the server. Where the client knows the keys' order, it is that order, and the parts are
/// rounds: all first records of a key, then all second ones. Else it is the order of arrival, cut where a key comes again.
///
///     keys       c a b a c a
///     rounds     a b c | a c | a
///     segments   c a b | a c | a
struct RowOrder {
  /// The row at each place.
  private(set) var rows: [Int32] = []
  private(set) var parts: [Range<Int>] = []
  /// Whether the rows of each part are in the order of their keys.
  private(set) var isSorted = false

  /// Whether no key comes twice; known where the order is.
  var isDistinct: Bool { parts.count <= 1 }

  /// Rows as they arrived, cut at these places.
  init(count: Int, cuts: [Int] = []) {
    rows = (0..<Int32(truncatingIfNeeded: count)).map { $0 }
    let edges = [0] + cuts + [count]
    parts = zip(edges, edges.dropFirst()).compactMap { $0 < $1 ? $0..<$1 : nil }
  }

  /// Some rows of another order, in its order.
  /// - Parameter places: ascending.
  init(_ places: [Int32], of order: RowOrder) {
    rows = places.map { order.rows[Int($0)] }
    isSorted = order.isSorted
    var first = 0
    for part in order.parts {
      var last = first
      while last < places.count, places[last] < Int32(truncatingIfNeeded: part.upperBound) { last += 1 }
      if first < last { parts.append(first..<last) }
      first = last
    }
  }

  /// Rows in rounds, each in the order of its keys.
  init(sorting rows: borrowing EncodedRows, by order: KeyOrder) {
    isSorted = true
    let sorted = Self.sorted(rows, by: order)
    // How often the key of each place came before.
    var counts: [Int32] = []
    for place in sorted.indices.dropFirst() {
      let (one, other) = (sorted[place - 1], sorted[place])
      guard one.prefix == other.prefix, order.compareTied(rows.row(Int(one.row)), rows.row(Int(other.row))) == 0 else { continue }
      if counts.isEmpty { counts = Array(repeating: 0, count: sorted.count) }
      counts[place] = counts[place - 1] + 1
    }
    guard let most = counts.max() else {
      self.rows = sorted.map(\.row)
      if !sorted.isEmpty { parts = [0..<sorted.count] }
      return
    }
    var rounds: [[Int32]] = Array(repeating: [], count: Int(most) + 1)
    for place in sorted.indices { rounds[Int(counts[place])].append(sorted[place].row) }
    for round in rounds {
      parts.append(self.rows.count..<self.rows.count + round.count)
      self.rows += round
    }
  }

  private struct Entry {
    var prefix: UInt64
    var row: Int32
  }

  private static func sorted(_ rows: borrowing EncodedRows, by order: KeyOrder) -> [Entry] {
    var entries: [Entry] = []
    entries.reserveCapacity(rows.count)
    var isSorted = true
    for row in 0..<rows.count {
      let entry = Entry(prefix: order.prefix(rows.row(row)), row: Int32(truncatingIfNeeded: row))
      if isSorted, let last = entries.last,
        last.prefix > entry.prefix || last.prefix == entry.prefix && order.compareTied(rows.row(Int(last.row)), rows.row(row)) > 0
      {
        isSorted = false
      }
      entries.append(entry)
    }
    if isSorted { return entries }
    // A closure cannot hold the rows, which cannot be copied.
    let view = rows.view
    entries.sort { one, other in
      if one.prefix != other.prefix { return one.prefix < other.prefix }
      let tied = order.compareTied(view.row(Int(one.row)), view.row(Int(other.row)))
      return tied == 0 ? one.row < other.row : tied < 0
    }
    return entries
  }

  /// Cuts rows, as they arrived, where a key comes again; the bytes of keys say so.
  static func segments(_ rows: borrowing EncodedRows, _ fields: [Int], _ segments: inout KeySegments) -> RowOrder {
    segments.reset()
    let bytes = rows.view.bytes
    var compound = RowBuffer(capacity: 64)
    guard fields.count > 1 else {
      for index in 0..<rows.count {
        let key = EncodedRow(rows.row(index)).field(fields[0])
        let start = key?.baseAddress.map { $0 - bytes.baseAddress! } ?? 0
        segments.add(start..<start + (key?.count ?? 0), of: bytes)
      }
      return RowOrder(count: rows.count, cuts: segments.cuts)
    }
    var ranges: [Range<Int>] = []
    for index in 0..<rows.count {
      let start = compound.count
      for field in fields {
        let key = EncodedRow(rows.row(index)).field(field)
        compound.append(Int32(truncatingIfNeeded: key?.count ?? -1))
        if let key { compound.append(key.assumingMemoryBound(to: UInt8.self)) }
      }
      ranges.append(start..<compound.count)
    }
    for range in ranges { segments.add(range, of: compound.bytes) }
    return RowOrder(count: rows.count, cuts: segments.cuts)
  }
}
