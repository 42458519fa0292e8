import UpsurgeRecords
import UpsurgeStorage

/// The records of a batch by what they are: a delete or not, and which columns they speak of. Each group is stored by statements
/// of its own.
///
/// Groups go one after the other in the order of the input. Where no key comes twice in the batch, that order says nothing, and
/// records of one kind are one group wherever they stand.
struct RecordGroups {
  /// What a group's records have in common.
  struct Kind: Hashable {
    var isDelete = false
    /// A bit for each slot that the records lack.
    var lacking: [UInt64] = []

    func lacks(_ slot: Int) -> Bool {
      slot >> 6 < lacking.count && lacking[slot >> 6] & 1 << UInt64(slot & 63) != 0
    }
  }

  struct Group {
    var kind: Kind
    /// Indexes of its records; nil for all of the batch.
    var records: [Int32]?
  }

  private(set) var groups: [Group] = []
  /// Whether a group may have records that come after some of the next group.
  private(set) var isGathered = false

  /// - Parameters:
  ///   - range: the records that are to be stored.
  ///   - selection: the indexes of the records that `range` counts; nil where these are indexes themselves.
  ///   - passedOver: those of them that are not.
  ///   - tombstone: says which records are deletes; nil where none is one.
  ///   - keySlots: the slots of the key, where equal keys are equal cells; nil where that is not known.
  init(
    _ batch: borrowing Batch, _ range: Range<Int>, only selection: [Int32]? = nil, tombstone: TombstoneTest?,
    keySlots: [Int]?, passedOver: Set<Int32> = []
  ) {
    if range.isEmpty { return }
    let isAll = selection == nil && range == 0..<batch.recordCount && passedOver.isEmpty
    if isAll, tombstone == nil, !batch.hasAbsentCells {
      groups = [Group(kind: Kind(), records: nil)]
      return
    }
    var records = selection.map { Array($0[range]) } ?? range.map { Int32(truncatingIfNeeded: $0) }
    if !passedOver.isEmpty { records.removeAll { passedOver.contains($0) } }
    if records.isEmpty { return }
    if tombstone == nil && !batch.hasAbsentCells {
      groups = [Group(kind: Kind(), records: records)]
      return
    }
    for index in records {
      let kind = Self.kind(Int(index), batch, tombstone)
      if groups.last?.kind == kind {
        groups[groups.count - 1].records?.append(index)
      } else {
        groups.append(Group(kind: kind, records: [index]))
      }
    }
    if groups.count > 2, let keySlots, Self.areDistinct(batch, records, keySlots) { gather() }
  }

  /// Puts records of one kind together.
  private mutating func gather() {
    isGathered = true
    var places: [Kind: Int] = [:]
    var gathered: [Group] = []
    for group in groups {
      if let place = places[group.kind] {
        gathered[place].records? += group.records ?? []
      } else {
        places[group.kind] = gathered.count
        gathered.append(group)
      }
    }
    groups = gathered
  }

  private static func kind(_ record: Int, _ batch: borrowing Batch, _ tombstone: TombstoneTest?) -> Kind {
    var kind = Kind()
    let row = record * batch.columnCount
    if let tombstone {
      kind.isDelete = tombstone.holds(batch.cells + row, cellCount: batch.columnCount, batch: batch)
    }
    if !batch.hasAbsentCells { return kind }
    var lacking = [UInt64](repeating: 0, count: (batch.columnCount + 63) >> 6)
    for slot in 0..<batch.columnCount where batch.cells[row + slot].kind == .absent {
      lacking[slot >> 6] |= 1 << UInt64(slot & 63)
    }
    if lacking.contains(where: { $0 != 0 }) { kind.lacking = lacking }
    return kind
  }

  /// Whether no key comes twice.
  private static func areDistinct(_ batch: borrowing Batch, _ records: [Int32], _ slots: [Int]) -> Bool {
    var seen: Set<[UInt8]> = []
    seen.reserveCapacity(records.count)
    var kinds = [Cell.Kind?](repeating: nil, count: slots.count)
    var key: [UInt8] = []
    for record in records {
      key.removeAll(keepingCapacity: true)
      for (place, slot) in slots.enumerated() {
        guard slot < batch.columnCount else { return false }
        let cell = batch.cells[Int(record) * batch.columnCount + slot]
        // Two spellings of one value need not be the same bytes.
        if let kind = kinds[place], kind != cell.kind { return false }
        kinds[place] = cell.kind
        switch cell.kind {
        case .integer: withUnsafeBytes(of: cell.payload) { key += $0 }
        case .text:
          let bytes = batch.bytes(of: cell)
          withUnsafeBytes(of: bytes.count) { key += $0 }
          key += bytes
        default: return false
        }
      }
      if !seen.insert(key).inserted { return false }
    }
    return true
  }
}
