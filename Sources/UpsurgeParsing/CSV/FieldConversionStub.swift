import UpsurgeRecords

/// Stands in for the real conversion until that is merged: text stays text, with the plainest of notes.
package func convertText(
  _ start: UnsafePointer<UInt8>, count: Int, offset: Int, isInSpill: Bool, affinity: Affinity,
  into cell: UnsafeMutablePointer<Cell>
) -> ConversionNote {
  cell.pointee = .text(offset: offset, byteCount: count, isInSpill: isInSpill)
  if count == 0 || start[0] > UInt8(ascii: "9") { return .textInNumberColumn }
  return count > 1 && start[0] == UInt8(ascii: "0") ? .spellingChanges : .none
}
