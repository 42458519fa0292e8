import UpsurgeRecords

/// Records that wait to be stored in the order of their key, and what was learned of such records.
///
/// Keys that arrive in no order make each record change another page of the key's index. So where keys clearly come in
/// no order, batches are put together to one, in as much memory as there is, and its records are stored sorted:
///
///     gather    copies a batch, which goes back to its pool
///     store     when the memory is full or more would gain nothing, the input pauses or ends, or a batch cannot be
///               appended
///     a piece   the part of them that goes into one transaction: sorted, stored, its rejects given away in the order
///               of the input, committed. Its end is a place in the input like that of any other commit
///
/// A piece that would bring the log past its limit is taken back and stored in smaller ones.
struct Gathering {
  /// The key to sort by; nil where records are stored as they come.
  var key: SortKey?
  /// The records; nil where no memory is held.
  var run: Run?
  /// Bytes of input that are gathered at most. Each piece changes the pages of an index once, so one that is large beside
  /// the database gains little; smaller ones stay in the processor's cache, and are stored while the next is parsed.
  var mostBytes = Int.max
  static let worthBytes = 32 << 20
  /// Records of a piece at most, as far as the log's limit has told.
  var pieceLimit = Int.max
  /// What comes of looking at records before they are stored; means nothing.
  var seen: UInt64 = 0
  /// Records of the piece in hand that were refused.
  var refusals: SortedRefusals?

  /// The batch that they are put together to.
  final class Run {
    var batch: Batch
    private let byteLimit: Int
    private var rejectByteCount = 0

    /// nil where the system has no memory.
    init?(byteLimit: Int) {
      guard let batch = Batch.reserved(byteCount: max(byteLimit, 1 << 20)) else { return nil }
      self.batch = batch
      self.byteLimit = byteLimit
    }

    var isEmpty: Bool { batch.parts.isEmpty }

    /// Appends a batch if it goes on where the last one ended, and the memory is enough.
    /// - Parameter mostBytes: of input in all.
    func take(_ next: borrowing Batch, mostBytes: Int) -> Bool {
      let rejected = next.rejects.reduce(0) { $0 + $1.raw.count + 256 }
      let recordCount = batch.recordCount + next.recordCount
      let used = batch.usedByteCount + rejectByteCount + next.usedByteCount + rejected
      guard used + recordCount * KeySorter<KeyChunks>.byteCountPerRecord <= byteLimit,
        isEmpty || batch.parsedByteCount + next.parsedByteCount <= mostBytes, batch.takes(next)
      else { return false }
      batch.append(next)
      rejectByteCount += rejected
      return true
    }

    func removeAll() {
      // Other records may touch other parts of it.
      batch.discard()
      rejectByteCount = 0
    }
  }
}

/// The records of a piece that were refused, which are given away in the order of the input.
struct SortedRefusals {
  private struct Kind: Hashable {
    var code: Reject.Code
    var column: String?
    var said: Wording
    var remedy: Wording?
  }

  private struct Refused {
    var number: UInt64
    var kind: Int32
  }

  private var list: [Refused] = []
  private var kinds: [Kind] = []
  private var places: [Kind: Int32] = [:]
  /// The number of the first one in the input; the largest there is for none.
  private(set) var first = UInt64.max

  /// Remembers why a record was refused, but not its bytes, which its batch still has.
  mutating func note(_ reject: Reject) {
    let kind = Kind(code: reject.code, column: reject.column, said: reject.said, remedy: reject.remedy)
    let place = places[kind] ?? Int32(kinds.count)
    if place == kinds.count {
      places[kind] = place
      kinds.append(kind)
    }
    let number = reject.position.record ?? 0
    list.append(Refused(number: number, kind: place))
    first = min(first, number)
  }

  var count: Int { list.count }

  /// Puts them into the order of the input.
  mutating func sort() { list.sort { $0.number < $1.number } }

  /// One of them as a reject.
  func reject(_ index: Int, of batch: borrowing Batch, file: String) -> Reject {
    let kind = kinds[Int(list[index].kind)]
    let record = Self.record(list[index].number, of: batch)
    return Reject(
      kind.code, at: batch.position(of: record, file: file), column: kind.column, reason: kind.said,
      hint: kind.remedy, raw: batch.rawBytes(of: record))
  }

  /// The record with this number, which is there.
  private static func record(_ number: UInt64, of batch: borrowing Batch) -> Int {
    var (lower, upper) = (0, batch.recordCount)
    while lower < upper {
      let middle = (lower + upper) / 2
      if batch.records[middle].number < number { lower = middle + 1 } else { upper = middle }
    }
    return lower
  }
}
