import CScan
import UpsurgeRecords

/// What becomes of one field of a record; made once for each field of the header.
struct FieldPlan {
  /// The cell the field goes to; negative: the field is not wanted.
  var slot: Int32
  /// Whether its text is taken for a number as it stands.
  var isNumeric: Bool
  /// Whether each of its numbers is a double.
  var isReal: Bool
  /// Whether the column holds the numbers of a key, whose spelling counts.
  var isKey: Bool
  /// Whether numbers that are only written otherwise are counted.
  var reportsSpelling: Bool
  /// Whether numbers beyond all doubles stay text.
  var keepsOutOfRange: Bool
}

/// A conversion note of the record that is being read; counted only when the record is whole.
struct PendingNote {
  var field: Int32
  var note: ConversionNote
}

/// The working memory of a CSV parser, allocated once: nothing is allocated per record.
final class CSVScratch {
  /// Bytes that are indexed at once; what stage one touches is still in the first-level cache in stage two.
  static let chunkByteCount = 16 << 10

  /// Positions of interesting bytes of one chunk.
  let positions: UnsafeMutablePointer<UInt32>
  /// The delimiter's bytes.
  let delimiter: UnsafeMutablePointer<UInt8>
  /// One plan for each expected field.
  let plans: UnsafeMutablePointer<FieldPlan>
  /// Room for one note for each expected field.
  let notes: UnsafeMutablePointer<PendingNote>
  /// All NULL spellings, each with its length (a byte count of four bytes) before it.
  let nullSpellings: UnsafeMutablePointer<UInt8>
  let nullSpellingByteCount: Int
  /// Whether a footer of full width may begin with a byte; 256 of them.
  let footerStarts: UnsafeMutablePointer<Bool>
  /// The fields whose values are read by a format, and room for the cell that each had before.
  let values: UnsafeMutablePointer<FieldValue>
  let valueCells: UnsafeMutablePointer<Cell>
  let valueCount: Int

  init(dialect: CSVDialect, columns: [ColumnTarget], slotOfField: [Int?], values readers: ValueReaders? = nil)
  {
    positions = .allocate(capacity: Self.chunkByteCount + Int(UPSURGE_STRUCTURAL_SLACK))
    delimiter = .allocate(capacity: max(dialect.delimiter.count, 1))
    delimiter.initialize(to: 0)
    for (index, byte) in dialect.delimiter.enumerated() { delimiter[index] = byte }

    plans = .allocate(capacity: max(slotOfField.count, 1))
    notes = .allocate(capacity: max(slotOfField.count, 1))
    var found: [FieldValue] = []
    for (field, slot) in slotOfField.enumerated() {
      let affinity = slot.map { columns[$0].affinity } ?? .none
      let reader = slot.flatMap { readers?.reader(of: columns[$0]) }
      if let slot, let reader {
        found.append(FieldValue(slot: slot, field: field, isNumeric: affinity.isNumeric, reader: reader))
      }
      plans[field] = FieldPlan(
        slot: Int32(slot ?? -1), isNumeric: affinity.isNumeric && reader == nil, isReal: affinity.isReal,
        isKey: slot.map { columns[$0].isKeyOfNumbers } == true,
        reportsSpelling: slot.map { columns[$0].reportsSpelling } == true,
        keepsOutOfRange: slot.map { columns[$0].keepsOutOfRange } == true)
    }

    values = .allocate(capacity: max(found.count, 1))
    valueCells = .allocate(capacity: max(found.count, 1))
    valueCount = found.count
    for (index, value) in found.enumerated() { (values + index).initialize(to: value) }

    var spellings: [UInt8] = []
    for spelling in dialect.nullSpellings where !spelling.isEmpty {
      withUnsafeBytes(of: UInt32(spelling.count)) { spellings += $0 }
      spellings += spelling
    }
    nullSpellingByteCount = spellings.count
    nullSpellings = .allocate(capacity: max(spellings.count, 1))
    for (index, byte) in spellings.enumerated() { nullSpellings[index] = byte }

    footerStarts = .allocate(capacity: 256)
    footerStarts.initialize(repeating: false, count: 256)
    var starts = FooterWords.starts + [UInt8(ascii: "#")]
    if slotOfField.count > 1 {
      starts += [dialect.delimiter.first, dialect.quote, FieldReader.blank].compactMap(\.self)
    } else {
      starts += [0x00, 0x09, 0x1A, 0x20, UInt8(ascii: "(")] + (UInt8(ascii: "0")...UInt8(ascii: "9"))
    }
    if dialect.escaping == .letters { starts.append(UInt8(ascii: "\\")) }
    for byte in starts { footerStarts[Int(byte)] = true }
  }

  deinit {
    positions.deallocate()
    delimiter.deallocate()
    plans.deallocate()
    notes.deallocate()
    nullSpellings.deallocate()
    footerStarts.deallocate()
    values.deallocate()
    valueCells.deallocate()
  }
}
