/// The keys of a chunk's records as one string of bytes.
///
///     record  part, part, …          part   kind, value
///     kind    1 NULL   2 integer: the difference to the same part of the record before, zigzag, as a varint
///             3 real: 8 bytes   4 text, 5 BLOB: the byte count as a varint, the bytes
package enum RowKeys {
  /// Writes the keys of records.
  package struct Writer: Sendable {
    package private(set) var bytes: [UInt8] = []
    private let cells: [Int]
    /// The one cell of a key that has no other.
    private let onlyCell: Int?
    /// The last integer of each part.
    private var last: [Int64]

    /// - Parameter cells: the cells of a record that make its key, in the key's order.
    package init(cells: [Int]) {
      self.cells = cells
      onlyCell = cells.count == 1 ? cells[0] : nil
      last = Array(repeating: 0, count: cells.count)
    }

    /// - Returns: false for a record that lacks a part of its key; nothing is written then.
    package mutating func add(_ record: Int, of batch: borrowing Batch) -> Bool {
      let row = batch.cells + record * batch.columnCount
      if let onlyCell, onlyCell < batch.columnCount, row[onlyCell].kind == .integer {
        addInteger(Int64(bitPattern: row[onlyCell].payload), part: 0)
        return true
      }
      for index in cells {
        if index >= batch.columnCount || row[index].kind == .absent || row[index].kind == .null {
          return false
        }
      }
      for part in cells.indices { add(row[cells[part]], part: part, of: batch) }
      return true
    }

    private mutating func add(_ cell: Cell, part: Int, of batch: borrowing Batch) {
      switch cell.kind {
      case .absent, .null: bytes.append(1)
      case .integer: addInteger(Int64(bitPattern: cell.payload), part: part)
      case .real:
        bytes.append(3)
        withUnsafeBytes(of: cell.payload.littleEndian) { bytes.append(contentsOf: $0) }
      case .text, .blob:
        bytes.append(cell.kind == .text ? 4 : 5)
        addVarint(UInt64(cell.byteCount))
        bytes.append(contentsOf: batch.bytes(of: cell))
      }
    }

    @inline(__always)
    private mutating func addInteger(_ value: Int64, part: Int) {
      let step = value &- last[part]
      last[part] = value
      bytes.append(2)
      addVarint(UInt64(bitPattern: (step << 1) ^ (step >> 63)))
    }

    @inline(__always)
    private mutating func addVarint(_ value: UInt64) {
      var rest = value
      while rest >= 0x80 {
        bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
        rest >>= 7
      }
      bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Begins the keys of another chunk.
    package mutating func take() -> [UInt8] {
      defer {
        bytes = []
        for part in last.indices { last[part] = 0 }
      }
      return bytes
    }
  }

  /// One part of a key.
  package enum Part: Sendable, Equatable {
    case null
    case integer(Int64)
    case real(UInt64)
    /// A range of the bytes.
    case text(Range<Int>)
    case blob(Range<Int>)
  }

  /// Reads keys one after the other.
  package struct Reader {
    package let bytes: [UInt8]
    package private(set) var parts: [Part]
    /// Whether the bytes are no keys.
    package private(set) var isDamaged = false
    private var last: [Int64]
    private var at = 0

    package init(_ bytes: [UInt8], partCount: Int) {
      self.bytes = bytes
      parts = Array(repeating: .null, count: partCount)
      last = Array(repeating: 0, count: partCount)
    }

    /// Goes to the next key.
    /// - Returns: false after the last one.
    package mutating func next() -> Bool {
      if at == bytes.count || isDamaged { return false }
      for index in parts.indices {
        guard let part = part(index) else {
          isDamaged = true
          return false
        }
        parts[index] = part
      }
      return true
    }

    /// A hash of the key in hand; the same for keys of the same parts.
    package var hash: UInt64 {
      var hash: UInt64 = 0x9E37_79B9_7F4A_7C15
      for part in parts {
        let value: UInt64
        switch part {
        case .null: value = 1
        case .integer(let number): value = UInt64(bitPattern: number) &* 0xD6E8_FEB8_6659_FD93 ^ 2
        case .real(let bits): value = bits &* 0xA076_1D64_78BD_642F ^ 3
        case .text(let range): value = content(range) ^ 4
        case .blob(let range): value = content(range) ^ 5
        }
        hash = (hash ^ value) &* 0xD6E8_FEB8_6659_FD93
        hash ^= hash >> 32
      }
      return hash
    }

    private func content(_ range: Range<Int>) -> UInt64 {
      bytes.withUnsafeBytes { ContentHash.hash(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    private mutating func part(_ index: Int) -> Part? {
      guard let kind = byte() else { return nil }
      switch kind {
      case 1: return .null
      case 2:
        guard let value = varint() else { return nil }
        last[index] &+= Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
        return .integer(last[index])
      case 3:
        guard bytes.count - at >= 8 else { return nil }
        let bits = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: at, as: UInt64.self) }
        at += 8
        return .real(UInt64(littleEndian: bits))
      case 4, 5:
        guard let count = varint(), count <= UInt64(bytes.count - at) else { return nil }
        let range = at..<at + Int(count)
        at = range.upperBound
        return kind == 4 ? .text(range) : .blob(range)
      default: return nil
      }
    }

    private mutating func byte() -> UInt8? {
      if at >= bytes.count { return nil }
      at += 1
      return bytes[at - 1]
    }

    private mutating func varint() -> UInt64? {
      var (value, shift): (UInt64, UInt64) = (0, 0)
      while let next = byte() {
        if shift > 63 { return nil }
        value |= UInt64(next & 0x7F) << shift
        if next < 0x80 { return value }
        shift += 7
      }
      return nil
    }
  }
}
