import UpsurgeRecords

/// Makes lines of JSON of the rows that a copy gives: see `RowLine`.
///
///     integer, boolean    5, 1
///     real                1.5; an infinity is 9e999, and NaN a text, as SQLite has none
///     bytea               an object with base64
///     all others          a text
final class RowLineWriter {
  private let keys: [[UInt8]]
  /// Whether a text in the column is a real that is not one of JSON's numbers.
  private let isReal: [Bool]
  private var decoder: BinaryDecoder
  private let cells: UnsafeMutablePointer<Cell>
  private let columnCount: Int
  private var texts = RowBuffer()
  private var line: [UInt8] = []

  /// A multiple of 3, so that the pieces of a BLOB join to one base64 text.
  private static let pieceByteCount = 48 << 10

  init(_ columns: [CopyPlan.Column]) {
    keys = RowLine.keys(columns.map(\.head.name))
    isReal = columns.map { $0.binary.form == .float4 || $0.binary.form == .float8 }
    decoder = BinaryDecoder(columns.map(\.binary))
    columnCount = columns.count
    cells = .allocate(capacity: max(columns.count, 1))
    cells.initialize(repeating: .null, count: max(columns.count, 1))
    line.reserveCapacity(2 * Self.pieceByteCount)
  }

  deinit { cells.deallocate() }

  /// Takes a message of the copy.
  /// - Parameter send: takes text in pieces; false ends it.
  /// - Returns: whether more is wanted.
  func take(_ message: UnsafeRawBufferPointer, _ send: ([UInt8]) -> Bool) throws(PostgresFailure) -> Bool {
    texts.count = 0
    guard try decoder.row(message, into: cells, &texts) else { return true }
    for column in 0..<columnCount {
      line += keys[column]
      if !append(cells[column], isReal: isReal[column], send) { return false }
    }
    line += RowLine.end
    return line.count < Self.pieceByteCount || flush(send)
  }

  /// Sends what is gathered.
  func flush(_ send: ([UInt8]) -> Bool) -> Bool {
    defer { line.removeAll(keepingCapacity: true) }
    return line.isEmpty || send(line)
  }

  private func append(_ cell: Cell, isReal: Bool, _ send: ([UInt8]) -> Bool) -> Bool {
    switch cell.kind {
    case .absent, .null: line += RowLine.null
    case .integer: RowLine.append(Int64(bitPattern: cell.payload), to: &line)
    case .real: RowLine.append(Double(bitPattern: cell.payload), to: &line)
    case .text:
      let text = bytes(of: cell)
      if isReal, let infinity = Self.infinity(text) {
        RowLine.append(infinity, to: &line)
        return true
      }
      line.append(UInt8(ascii: "\""))
      for range in Self.slices(of: text.count) {
        RowLine.append(text: UnsafeRawBufferPointer(rebasing: text[range]), to: &line)
        if range.upperBound < text.count, !flush(send) { return false }
      }
      line.append(UInt8(ascii: "\""))
    case .blob:
      let blob = bytes(of: cell)
      line += RowLine.blobStart
      for range in Self.slices(of: blob.count) {
        line += Base64.encode(Array(blob[range])).utf8
        if range.upperBound < blob.count, !flush(send) { return false }
      }
      line += RowLine.blobEnd
    }
    return true
  }

  private func bytes(of cell: Cell) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: texts.base + Int(truncatingIfNeeded: cell.payload), count: Int(cell.byteCount))
  }

  private static func infinity(_ text: UnsafeRawBufferPointer) -> Double? {
    if text.elementsEqual("Infinity".utf8) { return .infinity }
    return text.elementsEqual("-Infinity".utf8) ? -.infinity : nil
  }

  private static func slices(of byteCount: Int) -> [Range<Int>] {
    stride(from: 0, to: byteCount, by: pieceByteCount).map { $0..<min($0 + pieceByteCount, byteCount) }
  }
}
