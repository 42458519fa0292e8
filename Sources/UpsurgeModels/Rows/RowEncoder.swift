import UpsurgeRecords
import UpsurgeSQLite

/// Takes the columns of one model after the other, and writes them straight into a batch.
///
/// A model's `encode(into:)` appends one value for each of its columns, in their order. Text and bytes are copied once;
/// nothing is allocated for a row. What does not fit the batch is counted, and the row is encoded again in a larger one.
public struct RowEncoder: ~Copyable {
  /// The rows so far.
  var batch: Batch
  /// Where the next value goes in the batch's cells.
  private var next = 0
  /// The first cell after the row.
  private var end = 0
  /// Bytes that the row needs in the arena.
  private var wantedByteCount = 0
  /// Why the row cannot be stored; nil where it can.
  private var refusal: String?

  init(sizes: Batch.Sizes = .standard) { batch = Batch(sizes: sizes) }

  init(_ batch: consuming Batch) { self.batch = batch }

  /// Appends an integer.
  public mutating func append(_ value: Int64) { put(.integer(value)) }

  /// Appends a number; NaN is NULL, as SQLite stores it. A coding that means a number calls `refuse` for it.
  public mutating func append(_ value: Double) { put(value.isNaN ? .null : .real(value)) }

  /// Appends text.
  public mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { put($0, as: .text) }
  }

  /// Appends text of UTF-8.
  public mutating func appendText(_ utf8: UnsafeBufferPointer<UInt8>) { put(utf8, as: .text) }

  /// Appends a blob.
  public mutating func append(_ bytes: UnsafeRawBufferPointer) {
    bytes.withMemoryRebound(to: UInt8.self) { put($0, as: .blob) }
  }

  /// Appends a blob.
  public mutating func append(_ bytes: [UInt8]) { bytes.withUnsafeBytes { append($0) } }

  /// Appends NULL.
  public mutating func appendNull() { put(.null) }

  /// Says nothing of the next columns: a new row gets their defaults, one that exists keeps what it has.
  public mutating func appendAbsent(_ count: Int = 1) {
    batch.hasAbsentCells = true
    for _ in 0..<count { put(.absent) }
  }

  /// Appends any value.
  public mutating func append(_ value: SQLValue) {
    switch value {
    case .null: appendNull()
    case .integer(let number): append(number)
    case .real(let number): append(number)
    case .text(let text): append(text)
    case .blob(let bytes): append(bytes)
    }
  }

  /// Says that the row cannot be stored, which makes a reject of it. The value's columns are appended all the same, as NULL.
  /// - Parameter reason: what is the matter with the value: `4.5e400 is no number that JSON can express`.
  public mutating func refuse(_ reason: @autoclosure () -> String) {
    if refusal == nil { refusal = reason() }
  }

  // MARK: - Rows

  /// Whether the batch has room for the cells of one more row.
  var hasRoom: Bool { batch.hasRoomForRecord }

  /// Appends one row.
  /// - Parameters:
  ///   - number: the row's number, from 1, of all that are given.
  ///   - byteLimit: bytes of text and blobs that it may have.
  ///   - encode: appends a value for each column of the batch.
  /// - Returns: nil when the row is in the batch, or was refused; else how many bytes of text and blobs it has, more than there is
  ///   room for, or than the limit: the batch is as it was.
  @inline(__always)
  mutating func appendRow(
    number: UInt64, byteLimit: Int = .max, _ encode: (inout RowEncoder) -> Void
  ) -> Int? {
    let start = batch.arenaByteCount
    next = batch.recordCount * batch.columnCount
    end = next + batch.columnCount
    wantedByteCount = 0
    encode(&self)
    precondition(next == end, "a coding has appended another number of values than its columnCount says")
    if refusal != nil {
      batch.arenaByteCount = start
      return nil
    }
    if wantedByteCount > min(batch.arenaCapacity - start, byteLimit) {
      batch.arenaByteCount = start
      return wantedByteCount
    }
    (batch.records + batch.recordCount).initialize(
      to: RecordPosition(arenaOffset: start, byteCount: wantedByteCount, line: number, number: number))
    batch.recordCount += 1
    batch.parsedByteCount = batch.arenaByteCount
    return nil
  }

  /// Why the last row was refused; nil where it was not.
  mutating func takeRefusal() -> String? {
    if refusal == nil { return nil }
    defer { refusal = nil }
    return refusal
  }

  // MARK: - The last row

  /// What a column of it has.
  func lastValue(at column: Int) -> SQLValue {
    batch.value(at: (batch.recordCount - 1) * batch.columnCount + column)
  }

  /// Whether a column of it has nothing.
  func isLastNull(at column: Int) -> Bool {
    let kind = batch.cells[(batch.recordCount - 1) * batch.columnCount + column].kind
    return kind == .null || kind == .absent
  }

  /// Takes it out of the batch again.
  mutating func removeLast() {
    batch.recordCount -= 1
    batch.arenaByteCount = Int(batch.records[batch.recordCount].arenaOffset)
    batch.parsedByteCount = batch.arenaByteCount
  }

  // MARK: - Cells

  private mutating func put(_ cell: Cell) {
    precondition(next < end, "a coding has appended more values than its columnCount says")
    (batch.cells + next).initialize(to: cell)
    next += 1
  }

  private mutating func put(_ bytes: UnsafeBufferPointer<UInt8>, as kind: Cell.Kind) {
    wantedByteCount += bytes.count
    let offset = batch.arenaByteCount
    if bytes.count <= batch.arenaCapacity - offset {
      if let start = bytes.baseAddress { (batch.arena + offset).update(from: start, count: bytes.count) }
      batch.arenaByteCount = offset + bytes.count
    }
    var cell = Cell.text(offset: offset, byteCount: bytes.count)
    cell.kind = kind
    put(cell)
  }
}

/// What was appended to one row.
struct EncodedValues {
  /// One for each column; NULL where they cannot be stored.
  private(set) var values: [SQLValue] = []
  /// Why they cannot be stored; nil where they can.
  let refusal: String?

  init(columnCount: Int, _ encode: (inout RowEncoder) -> Void) {
    var row = RowEncoder(
      sizes: Batch.Sizes(arenaByteCount: 256, cellCount: max(columnCount, 1), recordCount: 1))
    row.batch.begin(columnCount: columnCount)
    if let byteCount = row.appendRow(number: 1, encode) {
      row.batch.growArena(to: byteCount)
      _ = row.appendRow(number: 1, encode)
    }
    refusal = row.takeRefusal()
    // Of a refused row not everything may be in the batch.
    values =
      refusal == nil
      ? (0..<columnCount).map { row.batch.value(at: $0) } : Array(repeating: .null, count: columnCount)
  }

  /// - Throws: `badInput` where they cannot be stored.
  func stored() throws(UpsurgeError) -> [SQLValue] {
    if let refusal { throw UpsurgeError(.badInput, refusal) }
    return values
  }
}

extension [SQLValue] {
  /// What is appended to one row.
  init(columnCount: Int, _ encode: (inout RowEncoder) -> Void) {
    self = EncodedValues(columnCount: columnCount, encode).values
  }
}

extension SQLValue {
  /// What a coding of one column makes of a value.
  init<Value>(encoding value: Value, with encode: (Value, inout RowEncoder) -> Void) {
    self = [SQLValue](columnCount: 1) { encode(value, &$0) }[0]
  }
}

extension Batch {
  /// The value of a cell.
  fileprivate func value(at index: Int) -> SQLValue {
    let cell = cells[index]
    switch cell.kind {
    case .absent, .null: return .null
    case .integer: return .integer(Int64(bitPattern: cell.payload))
    case .real: return .real(Double(bitPattern: cell.payload))
    case .text: return .text(String(decoding: bytes(of: cell), as: UTF8.self))
    case .blob: return .blob(Array(bytes(of: cell)))
    }
  }
}
