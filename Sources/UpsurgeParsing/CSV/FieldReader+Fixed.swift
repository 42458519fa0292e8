/// A line whose fields are read by widths, and how many were.
struct FixedLinePlace {
  var line: FixedLine
  /// Where the line ends.
  let stop: Int
  var fieldCount = 0
}

extension FieldReader {
  /// Reads the next field of the line; the first one where `offset` was set to a line's start.
  ///
  /// A text after the last field is one more field, and so is the rest of a line that crosses the blanks of a ruler.
  mutating func fixedField(_ widths: FixedWidths) -> Field {
    guard let base = bytes.baseAddress, !isAtEnd else {
      return Field(start: offset, stop: offset, ending: .endOfInput)
    }
    var place = fixedLine.flatMap { $0.line.at == offset ? $0 : nil } ?? beginFixedLine(base)
    fixedLine = nil
    var field = Field(start: offset, stop: offset)
    var isLast = false
    widths.fields.withUnsafeBufferPointer { fields in
      let piece = place.line.next(fields, place.fieldCount, isRuled: widths.ruler != nil)
      place.fieldCount += 1
      switch piece {
      case .end: isLast = true
      case .crossed: (field.start, field.stop, isLast) = (place.line.at, place.stop, true)
      case .surplus(let start, let stop): (field.start, field.stop, isLast) = (start, stop, true)
      case .field(let start, let stop):
        (field.start, field.stop) = (start, stop)
        var ahead = place.line
        isLast = ahead.next(fields, place.fieldCount, isRuled: widths.ruler != nil) == .end
      }
    }
    if isLast {
      offset = place.stop
      field.ending = takeEnding() ?? .endOfInput
    } else {
      offset = place.line.at
      fixedLine = place
    }
    return field
  }

  private func beginFixedLine(_ base: UnsafePointer<UInt8>) -> FixedLinePlace {
    let stop = bytes[offset...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? bytes.count
    return FixedLinePlace(line: FixedLine(base, from: offset, to: stop), stop: stop)
  }
}
