import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The records of a batch in COPY's binary format, each as a row of the table. They are encoded once, whatever is done with them
/// afterwards: sorted, compared with rows of the server, copied into the table or a staging table, made arrays.
///
///     buffer   | row 0 | row 1 | ...        a row: Int16 fields | Int32 length, bytes | ...
///     starts   0       ^       ^            one more than rows
///     records  the number in the batch of each row: those that cannot be encoded are left out
package struct EncodedRows: ~Copyable {
  private(set) var shape: RecordShape
  let slots: [Int]
  private var buffer = RowBuffer()
  private var starts: [Int] = [0]
  private(set) var records: [Int32] = []

  /// - Parameter slots: the slot of each of the shape's columns in the records.
  init(_ shape: RecordShape, slots: [Int]) {
    precondition(slots.count == shape.columns.count, "each column has a slot")
    self.shape = shape
    self.slots = slots
  }

  var count: Int { records.count }

  /// A row; valid until the next ones are encoded.
  @inline(__always)
  func row(_ index: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: buffer.bytes[starts[index]..<starts[index + 1]])
  }

  /// The encoded rows for closures, which cannot hold these rows.
  var view: View { View(bytes: buffer.bytes, starts: starts) }

  struct View {
    let bytes: UnsafeRawBufferPointer
    fileprivate let starts: [Int]

    @inline(__always)
    func row(_ index: Int) -> UnsafeRawBufferPointer {
      UnsafeRawBufferPointer(rebasing: bytes[starts[index]..<starts[index + 1]])
    }
  }

  /// Bytes of some rows that follow one another.
  func byteCount(_ rows: Range<Int>) -> Int { starts[rows.upperBound] - starts[rows.lowerBound] }

  /// Sends JSON as text from now on.
  /// - Returns: false where all of it is text already.
  mutating func castJSON() -> Bool { shape.castJSON() }

  /// Encodes records of a batch.
  /// - Parameter selection: the indexes of the records that the range counts; nil where these are indexes themselves.
  /// - Returns: those that cannot be, in their order.
  mutating func fill(
    _ batch: borrowing Batch, _ range: Range<Int>, only selection: [Int32]? = nil
  ) -> [BatchOutcomes.Rejected] {
    while true {
      buffer.count = 0
      starts.removeAll(keepingCapacity: true)
      records.removeAll(keepingCapacity: true)
      starts.append(0)
      if let rejected = encode(batch, range, selection) { return rejected }
    }
  }

  /// - Returns: nil where a column turned out to be one that only the server can read; it is text from now on.
  private mutating func encode(
    _ batch: borrowing Batch, _ range: Range<Int>, _ selection: [Int32]?
  ) -> [BatchOutcomes.Rejected]? {
    let encoder = RowEncoder(
      zip(shape.binaryColumns, slots).map { RowEncoder.Field($0, slot: $1) }, hasOrder: false)
    let (key, needed, texts) = (NeededCells(keyFields, slots), NeededCells(shape.neededFields, slots), CellTexts(batch))
    var rejected: [BatchOutcomes.Rejected] = []
    starts.reserveCapacity(range.count + 1)
    records.reserveCapacity(range.count)
    for index in range {
      let record = selection.map { Int($0[index]) } ?? index
      // Records with a NULL in the key stand for no row.
      if let field = key.firstMissing(record, texts) {
        rejected.append(BatchOutcomes.Rejected(record: record, cause: .nullKey(column: shape.columns[field].name)))
        continue
      }
      if let fault = encoder.encode(record, texts, into: &buffer) {
        let name = shape.columns[fault.field].name
        if fault.fault == .undecided {
          shape.textColumns.insert(name)
          return nil
        }
        rejected.append(BatchOutcomes.Rejected(record: record, cause: .fault(fault.fault, column: name)))
        continue
      }
      // A value that its type does not take is found first, as by the server.
      if let field = needed.firstMissing(record, texts) {
        buffer.count = starts[starts.count - 1]
        rejected.append(BatchOutcomes.Rejected(record: record, cause: .fault(.null, column: shape.columns[field].name)))
        continue
      }
      starts.append(buffer.count)
      records.append(Int32(truncatingIfNeeded: record))
    }
    return rejected
  }

  /// The fields of the key, where a record with a NULL in it stands for no row.
  private var keyFields: [Int] {
    guard let key = shape.key, !key.treatsNullsAsEqual else { return [] }
    return key.parts.compactMap { part in shape.columns.firstIndex { $0.name == part.column } }
  }

  /// Cells that a record must have.
  private struct NeededCells {
    private let fields: [Int]
    private let slots: [Int]

    init(_ fields: [Int], _ slots: [Int]) { (self.fields, self.slots) = (fields, fields.map { slots[$0] }) }

    /// The first field that a record has no value of.
    @inline(__always)
    func firstMissing(_ record: Int, _ texts: CellTexts) -> Int? {
      for index in slots.indices {
        let slot = slots[index]
        let kind = slot < texts.columnCount ? texts.cells[record * texts.columnCount + slot].kind : .null
        if kind == .null || kind == .absent { return fields[index] }
      }
      return nil
    }
  }
}

/// Reads the fields of a row in COPY's binary format.
struct EncodedRow {
  private let bytes: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// A field's bytes; nil for NULL. The row is known to have it.
  @inline(__always)
  func field(_ index: Int) -> UnsafeRawBufferPointer? {
    let place = place(of: index)
    let length = length(at: place)
    return length < 0 ? nil : UnsafeRawBufferPointer(rebasing: bytes[place + 4..<place + 4 + length])
  }

  /// Where a field's length is.
  @inline(__always)
  func place(of index: Int) -> Int {
    var place = 2
    for _ in 0..<index { place += 4 + max(0, length(at: place)) }
    return place
  }

  @inline(__always)
  func length(at place: Int) -> Int {
    Int(Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: Int32.self)))
  }

  /// Whether its fields lie within its bytes, and are as many as expected: rows that came from a server are not trusted.
  func isSound(fieldCount: Int) -> Bool {
    guard bytes.count >= 2, Int(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self))) == fieldCount else {
      return false
    }
    var place = 2
    for _ in 0..<fieldCount {
      guard place + 4 <= bytes.count else { return false }
      place += 4 + max(0, length(at: place))
    }
    return place == bytes.count
  }
}

extension UnsafeRawBufferPointer {
  /// Whether it holds the same bytes.
  @inline(__always)
  func isSame(as other: UnsafeRawBufferPointer) -> Bool {
    if count != other.count { return false }
    guard count > 0, let base = baseAddress, let otherBase = other.baseAddress else { return true }
    return memcmp(base, otherBase, count) == 0
  }
}
