import UpsurgeRecords

/// Builds a b-tree of SQLite's from entries that come in its order: leaves are filled to the brim, interior pages grow
/// from below, and the top page goes to the root's number, which the schema names.
///
/// A table's tree has rows in its leaves and rowids above them; an index's tree has entries on every page.
struct TreeBuilder: ~Copyable {
  let isIndex: Bool
  /// Where an entry may have so many bytes on its page; the rest goes to overflow pages.
  let limits: LocalLimits

  private let file: PageFile
  private let root: UInt32
  /// From the leaves upwards. Never another one; with `let`, Swift 6.3 emits invalid code for ThreadSanitizer here.
  private var levels: UnsafeMutablePointer<TreeLevel>
  private var levelCount = 1
  private var lastRowid: Int64 = 0
  private var isEmpty = true

  /// As many as SQLite's cursors can go down (`BTCURSOR_MAX_DEPTH`).
  private static let levelLimit = 20

  init(isIndex: Bool, root: UInt32, file: PageFile) {
    self.isIndex = isIndex
    self.root = root
    self.file = file
    limits = LocalLimits(usableByteCount: file.usableByteCount, isIndex: isIndex)
    levels = .allocate(capacity: TreeBuilder.levelLimit)
    levels.initialize(
      to: TreeLevel(
        isIndex ? .leafIndex : .leafTable, pageByteCount: file.pageByteCount,
        usableByteCount: file.usableByteCount, entryLimit: limits.cellLimit))
  }

  deinit {
    for height in 0..<levelCount { levels[height].deallocate() }
    levels.deallocate()
  }

  /// Bytes that are allocated: two pages a height and an entry.
  var memoryByteCount: Int { levelCount * (2 * file.pageByteCount + limits.cellLimit) }

  /// Adds a row: a whole cell of a table's leaf.
  @inline(__always)
  mutating func append(row cell: UnsafeRawPointer, _ byteCount: Int, rowid: Int64) throws(UpsurgeError) {
    if !levels.pointee.hasRoom(byteCount) { try closeTableLeaf() }
    levels.pointee.place(child: 0, cell, byteCount)
    lastRowid = rowid
    isEmpty = false
  }

  /// Adds an entry: a whole cell of an index's leaf.
  @inline(__always)
  mutating func append(entry cell: UnsafeRawPointer, _ byteCount: Int) throws(UpsurgeError) {
    isEmpty = false
    if !levels.pointee.hasClosed && levels.pointee.hasRoom(byteCount) {
      levels.pointee.place(child: 0, cell, byteCount)
    } else {
      try add(child: 0, cell, byteCount, height: 0)
    }
  }

  /// Writes the pages that are left; the builder is done.
  mutating func finish() throws(UpsurgeError) {
    // The schema's page is an empty root already.
    if isEmpty { return }
    var height = 0
    var child: UInt32 = 0
    while true {
      if levels[height].page.cellCount == 0 {
        levels[height].share()
        try handUp(height)
      }
      let page = levels[height].page
      page.seal(rightChild: child)
      height += 1
      if height == levelCount { return try file.write(page.memory, at: root) }
      child = try file.append(page.memory)
    }
  }

  @inline(never)
  private mutating func closeTableLeaf() throws(UpsurgeError) {
    let page = levels.pointee.page
    page.seal(rightChild: 0)
    let number = try file.append(page.memory)
    levels.pointee.page.clear()
    var key: (UInt64, UInt64) = (0, 0)
    try withUnsafeMutableBytes(of: &key) { (bytes) throws(UpsurgeError) in
      guard let start = bytes.baseAddress else { return }
      let count = Varint.write(UInt64(bitPattern: lastRowid), to: start)
      try add(child: number, start, count, height: 1)
    }
  }

  /// Adds an entry at a height, with the child on its left.
  @inline(never)
  private mutating func add(
    child: UInt32, _ entry: UnsafeRawPointer, _ byteCount: Int, height: Int
  ) throws(UpsurgeError) {
    if height == levelCount { addLevel() }
    if levels[height].hasRoom(byteCount) {
      levels[height].place(child: child, entry, byteCount)
      if levels[height].hasClosed { try handUp(height) }
    } else {
      levels[height].close(child: child, entry, byteCount)
    }
  }

  /// Writes the full page of a height and hands it to the height above.
  private mutating func handUp(_ height: Int) throws(UpsurgeError) {
    let number = try file.append(levels[height].takeClosed())
    let divider = levels[height].divider
    guard let start = divider.baseAddress else { return }
    try add(child: number, start, divider.count, height: height + 1)
  }

  private mutating func addLevel() {
    precondition(levelCount < TreeBuilder.levelLimit, "a tree is higher than SQLite can read")
    (levels + levelCount).initialize(
      to: TreeLevel(
        isIndex ? .interiorIndex : .interiorTable, pageByteCount: file.pageByteCount,
        usableByteCount: file.usableByteCount, entryLimit: limits.cellLimit))
    levelCount += 1
  }
}

/// How much of an entry lies on its page (https://www.sqlite.org/fileformat2.html#cellformat).
struct LocalLimits {
  /// The longest record that has no overflow page.
  let most: Int
  /// The least that a longer one leaves on its page.
  let least: Int
  /// What an overflow page holds.
  let overflowByteCount: Int

  init(usableByteCount: Int, isIndex: Bool) {
    most = isIndex ? (usableByteCount - 12) * 64 / 255 - 23 : usableByteCount - 35
    least = (usableByteCount - 12) * 32 / 255 - 23
    overflowByteCount = usableByteCount - 4
  }

  /// The most bytes of a leaf's cell: two integers, a record and the number of an overflow page.
  var cellLimit: Int { 2 * Varint.byteLimit + most + 4 }

  /// Bytes of a record that lie on its page, so that the last overflow page is full where that can be.
  func local(_ byteCount: Int) -> Int {
    if byteCount <= most { return byteCount }
    let count = least + (byteCount - least) % overflowByteCount
    return count <= most ? count : least
  }
}
