/// A set of rowids: a bit each, in pages of neighbours, as rowids mostly are.
package final class RowidSet {
  private typealias Words = UnsafeMutablePointer<UInt64>

  private static let rowidsPerPage = 1 << 16
  private static let wordsPerPage = rowidsPerPage / 64

  private var pages: [Int64: Words] = [:]
  /// The page that was asked for last.
  private var last: (number: Int64, words: Words)?
  /// Of which the pages are taken.
  private let memory: SeenMemory

  package init(_ memory: SeenMemory) { self.memory = memory }

  deinit { removeAll() }

  func removeAll() {
    for words in pages.values { words.deallocate() }
    memory.giveBack(byteCount)
    pages = [:]
    last = nil
  }

  /// Memory of the pages.
  var byteCount: Int { pages.count * RowidSet.pageByteCount }

  private static let pageByteCount = wordsPerPage * MemoryLayout<UInt64>.stride

  /// - Returns: whether it is new; nil where the memory is full, and it was not inserted.
  @discardableResult
  package func insert(_ rowid: Int64) -> Bool? {
    var found = page(of: rowid)
    if found == nil && !memory.isFull { found = addPage(of: rowid) }
    guard let words = found else { return nil }
    let (word, bit) = (words[RowidSet.word(rowid)], RowidSet.bit(rowid))
    words[RowidSet.word(rowid)] = word | bit
    return word & bit == 0
  }

  /// Inserts many, mostly neighbours, as long as the memory is not full.
  /// - Parameter rowid: gives each of them away.
  /// - Returns: how many are new, and how many were inserted.
  func insert(count: Int, _ rowid: (Int) -> Int64) -> (newCount: Int, count: Int) {
    var (newCount, number): (Int, Int64) = (0, 0)
    var words: Words?
    for index in 0..<count {
      let rowid = rowid(index)
      if words == nil || rowid >> 16 != number {
        words = page(of: rowid)
        if words == nil {
          if memory.isFull { return (newCount, index) }
          words = addPage(of: rowid)
        }
        number = rowid >> 16
      }
      guard let words else { continue }
      let (word, bit) = (words[RowidSet.word(rowid)], RowidSet.bit(rowid))
      words[RowidSet.word(rowid)] = word | bit
      if word & bit == 0 { newCount += 1 }
    }
    return (newCount, count)
  }

  /// Whether it is one of them.
  package func contains(_ rowid: Int64) -> Bool {
    guard let words = page(of: rowid) else { return false }
    return words[RowidSet.word(rowid)] & RowidSet.bit(rowid) != 0
  }

  /// Gives away each rowid, in ascending order.
  package func visit<E>(_ body: (Int64) throws(E) -> Void) throws(E) {
    for number in pages.keys.sorted() {
      guard let words = pages[number] else { continue }
      for index in 0..<RowidSet.wordsPerPage {
        var word = words[index]
        while word != 0 {
          try body(number << 16 | Int64(index << 6 | word.trailingZeroBitCount))
          word &= word - 1
        }
      }
    }
  }

  @inline(__always)
  private func page(of rowid: Int64) -> Words? {
    let number = rowid >> 16
    if let last, last.number == number { return last.words }
    guard let words = pages[number] else { return nil }
    last = (number, words)
    return words
  }

  private func addPage(of rowid: Int64) -> Words {
    let words = Words.allocate(capacity: RowidSet.wordsPerPage)
    words.initialize(repeating: 0, count: RowidSet.wordsPerPage)
    memory.take(RowidSet.pageByteCount)
    pages[rowid >> 16] = words
    last = (rowid >> 16, words)
    return words
  }

  @inline(__always)
  private static func word(_ rowid: Int64) -> Int { Int(rowid & 0xFFFF) >> 6 }

  @inline(__always)
  private static func bit(_ rowid: Int64) -> UInt64 { 1 << UInt64(rowid & 63) }
}
