/// The pages of one height of a tree that is built from its leaves upwards: the one being filled, and the full one
/// before it.
///
/// In an index every entry is stored once: the one that finds no room in a page goes up and divides the page from the
/// next. As no page may be empty, a full page and its divider wait until the next page has its first entry; when none
/// comes, the last entry of the full page goes up instead:
///
///     [a b c] d [ ]   ->   [a b] c [d]
///
/// The interior pages of a table's tree hold (child, largest rowid) and are filled in the same way.
struct TreeLevel {
  /// The page being filled.
  var page: TreePage
  /// Whether a full page waits.
  private(set) var hasClosed = false
  /// What is between the full page and the next one.
  private(set) var divider: UnsafeMutableRawBufferPointer

  private var closed: TreePage
  private var closedRightChild: UInt32 = 0
  private let dividerMemory: UnsafeMutableRawBufferPointer
  /// Bytes before an entry: the number of the child page on its left; a leaf has none.
  private let childByteCount: Int

  /// - Parameter entryLimit: the most bytes of an entry.
  init(_ kind: TreePage.Kind, pageByteCount: Int, usableByteCount: Int, entryLimit: Int) {
    func page() -> TreePage {
      let memory = UnsafeMutableRawPointer.allocate(byteCount: pageByteCount, alignment: 16)
      memory.initializeMemory(as: UInt8.self, repeating: 0, count: pageByteCount)
      return TreePage(kind, memory: memory, usableByteCount: usableByteCount)
    }
    self.page = page()
    closed = page()
    dividerMemory = .allocate(byteCount: entryLimit, alignment: 16)
    divider = UnsafeMutableRawBufferPointer(rebasing: dividerMemory[..<0])
    childByteCount = kind.headerByteCount == 12 ? 4 : 0
  }

  func deallocate() {
    page.memory.deallocate()
    closed.memory.deallocate()
    dividerMemory.deallocate()
  }

  @inline(__always)
  func hasRoom(_ entryByteCount: Int) -> Bool { page.hasRoom(childByteCount + entryByteCount) }

  /// Adds an entry, and the child that holds what is smaller.
  @inline(__always)
  mutating func place(child: UInt32, _ entry: UnsafeRawPointer, _ byteCount: Int) {
    let cell = page.place(childByteCount + byteCount)
    if childByteCount > 0 { cell.storeBytes(of: child.bigEndian, as: UInt32.self) }
    (cell + childByteCount).copyMemory(from: entry, byteCount: byteCount)
  }

  /// Ends the page before an entry that has no room.
  mutating func close(child: UInt32, _ entry: UnsafeRawPointer, _ byteCount: Int) {
    precondition(!hasClosed, "a full page waits for the next one's first entry only")
    swap(&page, &closed)
    page.clear()
    hasClosed = true
    closedRightChild = child
    keepDivider(UnsafeRawBufferPointer(start: entry, count: byteCount))
  }

  /// The full page, ready for the file; it waits no more.
  mutating func takeClosed() -> UnsafeRawPointer {
    precondition(hasClosed, "there is no full page")
    hasClosed = false
    closed.seal(rightChild: closedRightChild)
    return UnsafeRawPointer(closed.memory)
  }

  /// Gives the empty page after the full one its first entry, when none has come.
  mutating func share() {
    precondition(hasClosed && page.cellCount == 0 && closed.cellCount > 1, "there is nothing to share")
    if let start = divider.baseAddress { place(child: closedRightChild, start, divider.count) }
    let last = closed.takeLast()
    if childByteCount > 0 { closedRightChild = UInt32(bigEndian: last.loadUnaligned(as: UInt32.self)) }
    keepDivider(UnsafeRawBufferPointer(rebasing: last[childByteCount...]))
  }

  private mutating func keepDivider(_ entry: UnsafeRawBufferPointer) {
    dividerMemory.copyMemory(from: entry)
    divider = UnsafeMutableRawBufferPointer(rebasing: dividerMemory[..<entry.count])
  }
}
