import CScan
import UpsurgeRecords

/// Makes the cell of a field's text for a column of the given affinity.
///
/// A decimal becomes the nearest double. Integers that are spelled otherwise (`007`) and what is no number stay a text cell,
/// which SQLite converts (or not) when it is bound.
/// - Parameters:
///   - start: The text's first byte; `count` bytes are read.
///   - offset: Where the text starts in the batch's arena, or in its spill when `isInSpill`.
///   - cell: Always filled, whatever the note says.
/// - Returns: Whether the stored value says as much as the text.
package func convertText(
  _ start: UnsafePointer<UInt8>, count: Int, offset: Int, isInSpill: Bool, affinity: Affinity,
  into cell: UnsafeMutablePointer<Cell>
) -> ConversionNote {
  if affinity.isNumeric {
    return convertNumeric(
      start, count: count, offset: offset, isInSpill: isInSpill, isReal: affinity.isReal, into: cell)
  }
  cell.setText(offset: offset, byteCount: count, isInSpill: isInSpill)
  return .none
}

/// Makes a cell of a text for a column of numbers, as ``convertText`` does for any column.
@inline(__always)
func convertNumeric(
  _ start: UnsafePointer<UInt8>, count: Int, offset: Int, isInSpill: Bool, isReal: Bool,
  into cell: UnsafeMutablePointer<Cell>
) -> ConversionNote {
  var bits: UInt64 = 0
  let found = Int(upsurge_number_scan(start, count, &bits))
  if found == UPSURGE_NUMBER_INTEGER { return storeInteger(bits, isReal: isReal, into: cell) }
  if found == UPSURGE_NUMBER_REAL {
    cell.setNumber(.real, bits: bits)
    return .none
  }
  cell.setText(offset: offset, byteCount: count, isInSpill: isInSpill)
  if found == UPSURGE_NUMBER_NONE { return .textInNumberColumn }
  storeNearest(start, count: count, into: cell)
  return .spellingChanges
}

/// Makes the cell of a JSON number (its grammar already checked) for a column of the given affinity.
///
/// Text columns keep the digits as they stand. Elsewhere the number becomes an integer or the nearest double,
/// or stays text with all its digits when neither holds what they say.
/// - Parameters: As those of ``convertText(_:count:offset:isInSpill:affinity:into:)``.
/// - Returns: `.spellingChanges` when the affinity would turn kept digits into a lesser number.
package func convertNumber(
  _ start: UnsafePointer<UInt8>, count: Int, offset: Int, isInSpill: Bool = false, affinity: Affinity,
  into cell: UnsafeMutablePointer<Cell>
) -> ConversionNote {
  if affinity.rawValue != Affinity.text.rawValue {
    var bits: UInt64 = 0
    let found = Int(upsurge_number_scan_json(start, count, &bits))
    if found == UPSURGE_NUMBER_INTEGER {
      return storeInteger(bits, isReal: affinity.isReal, into: cell)
    }
    if found == UPSURGE_NUMBER_REAL {
      cell.setNumber(.real, bits: bits)
      return .none
    }
    if let infinity = infinity(start, count: count) {
      cell.setNumber(.real, bits: infinity.bitPattern)
      return .none
    }
  }
  cell.setText(offset: offset, byteCount: count, isInSpill: isInSpill)
  if !affinity.isNumeric { return .none }
  storeNearest(start, count: count, into: cell)
  return .spellingChanges
}

/// Makes the cell of a decimal that says more than a double holds, and is a double in its column all the same. SQLite
/// would take the nearest one, or its neighbour.
private func storeNearest(
  _ start: UnsafePointer<UInt8>, count: Int, into cell: UnsafeMutablePointer<Cell>
) {
  var bits: UInt64 = 0
  guard upsurge_number_nearest(start, count, &bits) else { return }
  cell.setNumber(.real, bits: bits)
}

/// Whether a decimal has become infinity, or zero, which it is not: no double is near to it.
/// - Parameter cell: what a conversion has made of the text, with the note `spellingChanges`.
@inline(never)
func isOutOfRange(_ start: UnsafePointer<UInt8>, count: Int, _ cell: Cell) -> Bool {
  guard cell.isReal else { return false }
  let value = Double(bitPattern: cell.payload)
  if value != 0 { return value.isInfinite }
  let digits = UnsafeBufferPointer(start: start, count: count).prefix { $0 | 0x20 != UInt8(ascii: "e") }
  return digits.contains { (UInt8(ascii: "1")...UInt8(ascii: "9")).contains($0) }
}

/// What `9e999` and `-9e999` say: JSON has no other word for infinity, and changes, kept records and rows of a database
/// are written so. Other numbers beyond all doubles keep their digits.
func infinity(_ start: UnsafePointer<UInt8>, count: Int) -> Double? {
  let spelling: StaticString = "9e999"
  let isNegative = start.pointee == UInt8(ascii: "-")
  let sign = isNegative ? 1 : 0
  guard count == spelling.utf8CodeUnitCount + sign else { return nil }
  for index in 0..<spelling.utf8CodeUnitCount where start[sign + index] != spelling.utf8Start[index] {
    return nil
  }
  return isNegative ? -.infinity : .infinity
}

/// Makes the cell of an integer for a column of the given affinity.
///
/// A REAL column holds the nearest double. Left to SQLite, an integer that is not a double would be compared exactly with
/// the rounded value in the table, so that the same record would change its row every time.
@inline(__always)
private func storeInteger(
  _ bits: UInt64, isReal: Bool, into cell: UnsafeMutablePointer<Cell>
) -> ConversionNote {
  if !isReal || isExactDouble(bits) {
    cell.setNumber(.integer, bits: bits)
    return .none
  }
  let nearest = Double(Int64(bitPattern: bits))
  cell.setNumber(.real, bits: nearest.bitPattern)
  return .spellingChanges
}

/// Whether the integer with these bits is a double without rounding.
func isExactDouble(_ bits: UInt64) -> Bool {
  let magnitude = Int64(bitPattern: bits).magnitude
  return magnitude <= 1 << 53 || magnitude >> UInt64(magnitude.trailingZeroBitCount) <= 1 << 53
}
