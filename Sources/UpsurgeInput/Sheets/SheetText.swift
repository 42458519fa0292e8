import UpsurgeRecords

/// The rows of a sheet as the text of records: fields with tabs between them, a row a line.
///
///     id⇥name          the header
///     1⇥Ann\nLee       a line feed in a cell is written \n, so that the number of the line is that of the row
///                      a row without values
///     3⇥               cells at the end that the row does not have
///
/// How many fields a record has, is what the first rows have at most. Later rows with fewer are filled up, and later ones with
/// more stay as they are: they are no records of this table.
struct SheetText {
  /// Bytes that were made and not taken.
  private(set) var output: [UInt8] = []
  private var outputStart = 0

  /// The row that is being read: its fields so far, and how many columns they are.
  private var row: [UInt8] = []
  private var rowWidth = 0
  /// Rows that were read, those without values included.
  private(set) var rowNumber = 0
  /// Lines that were written, or held.
  private var lineCount = 0

  /// The first rows, until it is known how many fields they have: empty rows before each, bytes and columns.
  private var held: [(blankCount: Int, bytes: Range<Int>, width: Int)] = []
  private var heldBytes: [UInt8] = []
  private var width: Int?
  /// A line that is written so many times more.
  private var repeated: (line: [UInt8], count: Int)?

  private static let heldRowLimit = 1000
  private static let heldByteLimit = 256 << 10
  /// So much is made before somebody takes it.
  private static let outputByteLimit = 256 << 10

  static let columnLimit = 16_384
  static let rowLimit = 1_048_576

  /// Whether enough was made for now.
  var isFull: Bool { output.count - outputStart >= Self.outputByteLimit || repeated != nil }
  /// Whether the row has no value so far.
  var isRowEmpty: Bool { row.isEmpty }
  var rowByteCount: Int { row.count }

  // MARK: - Cells

  /// Begins a row, which stands so many rows after the last one.
  mutating func beginRow(after gap: Int = 1) {
    rowNumber += gap
    row.removeAll(keepingCapacity: true)
    rowWidth = 0
  }

  /// Writes the value of a cell.
  /// - Parameter column: from 0, after all that were written.
  mutating func write(_ value: [UInt8], column: Int) {
    let tabCount = column - max(rowWidth - 1, 0)
    if tabCount == 1 {
      row.append(0x09)
    } else {
      row.append(contentsOf: repeatElement(0x09, count: tabCount))
    }
    rowWidth = column + 1
    value.withUnsafeBufferPointer { value in
      var start = 0
      for at in value.indices {
        let letter: UInt8
        switch value[at] {
        case 0x09: letter = UInt8(ascii: "t")
        case 0x0A: letter = UInt8(ascii: "n")
        case 0x0D: letter = UInt8(ascii: "r")
        case 0x5C: letter = 0x5C
        default: continue
        }
        row += UnsafeBufferPointer(rebasing: value[start..<at])
        row += [0x5C, letter]
        start = at + 1
      }
      row += UnsafeBufferPointer(rebasing: value[start...])
    }
  }

  /// Ends a row, and writes it so many times.
  mutating func endRow(count: Int = 1) {
    defer { rowNumber += count - 1 }
    if row.isEmpty { return }
    // Rows without values are known to be followed by one that has some.
    add(row[...], width: rowWidth, blankCount: rowNumber - 1 - lineCount)
    lineCount = rowNumber
    if count > 1 {
      flush()
      let start = output.count
      append(row[...], width: rowWidth)
      repeated = (Array(output[start...]), count - 2)
      if count == 2 { repeated = nil }
      lineCount += count - 1
    }
  }

  /// Ends the sheet.
  mutating func end() { flush() }

  // MARK: - Lines

  private mutating func add(_ bytes: ArraySlice<UInt8>, width rowWidth: Int, blankCount: Int) {
    if width != nil {
      append(bytes, width: rowWidth, blankCount: blankCount)
      return
    }
    let start = heldBytes.count
    heldBytes += bytes
    held.append((blankCount, start..<heldBytes.count, rowWidth))
    if held.count >= Self.heldRowLimit || heldBytes.count >= Self.heldByteLimit { flush() }
  }

  private mutating func flush() {
    if width != nil { return }
    width = held.map(\.width).max() ?? 0
    for row in held { append(heldBytes[row.bytes], width: row.width, blankCount: row.blankCount) }
    (held, heldBytes) = ([], [])
  }

  private mutating func append(_ bytes: ArraySlice<UInt8>, width rowWidth: Int, blankCount: Int = 0) {
    for _ in 0..<max(blankCount, 0) { output.append(0x0A) }
    output += bytes
    if let width, width > rowWidth { output.append(contentsOf: repeatElement(0x09, count: width - rowWidth)) }
    output.append(0x0A)
  }

  // MARK: - Output

  /// Takes what was made.
  /// - Returns: how many bytes; 0 where nothing was.
  mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    while outputStart == output.count, var (line, count) = repeated {
      output.removeAll(keepingCapacity: true)
      outputStart = 0
      let part = min(count, max(Self.outputByteLimit / line.count, 1))
      for _ in 0..<part { output += line }
      count -= part
      line = count == 0 ? [] : line
      repeated = count == 0 ? nil : (line, count)
    }
    let count = min(output.count - outputStart, buffer.count)
    if count == 0 { return 0 }
    output.withUnsafeBytes { bytes in
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[outputStart..<outputStart + count]))
    }
    outputStart += count
    if outputStart == output.count {
      output.removeAll(keepingCapacity: true)
      outputStart = 0
    }
    return count
  }
}
