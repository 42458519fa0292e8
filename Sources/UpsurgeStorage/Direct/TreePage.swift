#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A b-tree page under construction (https://www.sqlite.org/fileformat2.html#b_tree_pages).
///
///     | header 8 or 12 | cell pointers -> |   free   | <- cells | reserved |
///                                                    ^contentStart         ^page size
///
/// Cells are placed from the end downwards, so the last one lies at `contentStart`. Owns no memory.
struct TreePage {
  enum Kind: UInt8 {
    case interiorIndex = 2
    case interiorTable = 5
    case leafIndex = 10
    case leafTable = 13

    /// Bytes before the cell pointers: interior pages have a rightmost child.
    var headerByteCount: Int { self == .interiorIndex || self == .interiorTable ? 12 : 8 }
  }

  let memory: UnsafeMutableRawPointer
  private let kind: Kind
  private let usableByteCount: Int
  private(set) var cellCount = 0
  private var contentStart: Int
  private var pointersEnd: Int
  /// Bytes of the cell that was placed last.
  private var lastByteCount = 0

  /// - Parameters:
  ///   - memory: a whole page of zeros, for as long as the page is used.
  ///   - usableByteCount: the page's size without what is reserved at its end.
  init(_ kind: Kind, memory: UnsafeMutableRawPointer, usableByteCount: Int) {
    self.kind = kind
    self.memory = memory
    self.usableByteCount = usableByteCount
    contentStart = usableByteCount
    pointersEnd = kind.headerByteCount
  }

  /// Whether a cell of so many bytes fits, with its pointer.
  @inline(__always)
  func hasRoom(_ byteCount: Int) -> Bool { contentStart - pointersEnd >= max(byteCount, 4) + 2 }

  /// Makes room for a cell; SQLite's smallest is 4 bytes.
  @inline(__always)
  mutating func place(_ byteCount: Int) -> UnsafeMutableRawPointer {
    contentStart -= max(byteCount, 4)
    let cell = memory + contentStart
    if byteCount < 4 { cell.storeBytes(of: 0, as: UInt32.self) }
    memory.storeBytes(
      of: UInt16(truncatingIfNeeded: contentStart).bigEndian, toByteOffset: pointersEnd, as: UInt16.self)
    pointersEnd += 2
    cellCount += 1
    lastByteCount = byteCount
    return cell
  }

  /// The cell that was placed last; only once, as what lies before it is not known.
  mutating func takeLast() -> UnsafeRawBufferPointer {
    let cell = UnsafeRawBufferPointer(start: memory + contentStart, count: lastByteCount)
    contentStart += max(lastByteCount, 4)
    pointersEnd -= 2
    cellCount -= 1
    lastByteCount = 0
    return cell
  }

  /// Writes the header and clears what is free: the page is ready for the file.
  func seal(rightChild: UInt32) {
    memset(memory + pointersEnd, 0, contentStart - pointersEnd)
    memory.storeBytes(of: kind.rawValue, as: UInt8.self)
    // No free block.
    memory.storeBytes(of: 0, toByteOffset: 1, as: UInt16.self)
    memory.storeBytes(of: UInt16(truncatingIfNeeded: cellCount).bigEndian, toByteOffset: 3, as: UInt16.self)
    // 65,536 is written as 0.
    memory.storeBytes(
      of: UInt16(truncatingIfNeeded: contentStart).bigEndian, toByteOffset: 5, as: UInt16.self)
    // No fragment.
    memory.storeBytes(of: 0, toByteOffset: 7, as: UInt8.self)
    if kind.headerByteCount == 12 {
      memory.storeBytes(of: rightChild.bigEndian, toByteOffset: 8, as: UInt32.self)
    }
  }

  /// Begins the next page in the same memory.
  @inline(__always)
  mutating func clear() {
    cellCount = 0
    contentStart = usableByteCount
    pointersEnd = kind.headerByteCount
    lastByteCount = 0
  }
}
