/// In which order rows are sent, and in which parts they are stored: within a part no key comes twice.
///
/// The place of a row is its `ord` on the server. Where the client knows the keys' order, it is that order, and the parts are
/// rounds: all first records of a key, then all second ones. Else it is the order of arrival, cut where a key comes again.
///
///     keys       c a b a c a
///     rounds     a b c | a c | a
///     segments   c a b | a c | a
package struct RowOrder {
  /// The row at each place.
  private(set) var rows: [Int32] = []
  private(set) var parts: [Range<Int>] = []
  /// Whether the rows of each part are in the order of their keys.
  private(set) var isSorted = false

  /// Whether no key comes twice; known where the order is.
  var isDistinct: Bool { parts.count <= 1 }

  /// Whether all rows are sent as they lie in the buffer.
  func isAsEncoded(_ rows: borrowing EncodedRows) -> Bool {
    self.rows.count == rows.count && self.rows.indices.allSatisfy { Int(self.rows[$0]) == $0 }
  }

  /// Rows as they arrived, cut at these places.
  init(count: Int, cuts: [Int] = []) {
    self.init((0..<Int32(truncatingIfNeeded: count)).map { $0 }, cuts: cuts)
  }

  private init(_ list: [Int32], cuts: [Int]) {
    rows = list
    let edges = [0] + cuts + [list.count]
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
      guard one.prefix == other.prefix,
        order.compareTied(rows.row(Int(one.row)), rows.row(Int(other.row))) == 0
      else { continue }
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

  /// An order with the same parts, each in the order of arrival.
  var byArrival: RowOrder {
    var other = self
    other.isSorted = false
    for part in parts { other.rows[part].sort() }
    return other
  }

  /// An order of the same rows as they arrived, cut where a key comes again.
  func arrived(_ rows: borrowing EncodedRows) -> RowOrder {
    if !isSorted { return self }
    if isDistinct { return byArrival }
    var segments = KeySegments()
    return .segments(rows, self.rows.sorted(), rows.shape.keyFields ?? [], &segments)
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
        last.prefix > entry.prefix
          || last.prefix == entry.prefix && order.compareTied(rows.row(Int(last.row)), rows.row(row)) > 0
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

  /// Cuts rows where a key comes again; the bytes of keys say so.
  static func segments(
    _ rows: borrowing EncodedRows, _ list: [Int32], _ fields: [Int], _ segments: inout KeySegments
  ) -> RowOrder {
    segments.reset()
    if fields.count == 1 {
      let bytes = rows.view.bytes
      for index in list {
        let key = EncodedRow(rows.row(Int(index))).field(fields[0])
        let start = key?.baseAddress.map { $0 - bytes.baseAddress! } ?? 0
        segments.add(start..<start + (key?.count ?? 0), of: bytes)
      }
    } else {
      // The parts of a key may lie apart.
      var keys = RowBuffer()
      for index in list {
        let start = keys.count
        for field in fields {
          let key = EncodedRow(rows.row(Int(index))).field(field)
          keys.append(Int32(truncatingIfNeeded: key?.count ?? -1))
          if let key { keys.append(key.assumingMemoryBound(to: UInt8.self)) }
        }
        segments.add(start..<keys.count, of: keys.bytes)
      }
    }
    return RowOrder(list, cuts: segments.cuts)
  }
}
