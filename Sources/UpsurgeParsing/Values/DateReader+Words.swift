/// Parts of a date that are seldom: blanks, names, halves of days and offsets.
extension DateReader {
  @inline(never)
  func takeBlanks(
    _ step: DateStep, _ text: UnsafePointer<UInt8>, _ count: Int, _ at: inout Int
  ) -> ValueFault {
    let start = at
    while at < count && (text[at] == UInt8(ascii: " ") || text[at] == 0x09) { at += 1 }
    return at == start && step.kind == .blanks ? .dateForm : .none
  }

  @inline(never)
  func takeWord(
    _ step: DateStep, _ text: UnsafePointer<UInt8>, _ count: Int, _ at: inout Int, _ found: inout Found
  ) -> ValueFault {
    switch step.kind {
    case .monthName:
      guard let month = DateName.find(DateName.months, text, count, &at) else { return .dateName }
      found.month = month + 1
    case .weekday:
      guard let weekday = DateName.find(DateName.weekdays, text, count, &at) else { return .dateName }
      found.weekday = weekday
    case .half:
      guard at < count else { return .dateForm }
      let letter = text[at] | 0x20
      if letter != UInt8(ascii: "a") && letter != UInt8(ascii: "p") { return .dateForm }
      var stop = at + 1
      let hasPoints = stop < count && text[stop] == UInt8(ascii: ".")
      if hasPoints { stop += 1 }
      if stop == count || text[stop] | 0x20 != UInt8(ascii: "m") { return .dateForm }
      stop += 1
      if hasPoints {
        if stop == count || text[stop] != UInt8(ascii: ".") { return .dateForm }
        stop += 1
      }
      found.half = letter == UInt8(ascii: "p") ? 12 : 0
      at = stop
    case .offset: return takeOffset(text, count, &at, &found)
    default:
      let start = at
      while at < count && (text[at] | 0x20) &- UInt8(ascii: "a") < 26 { at += 1 }
      return DateName.isUTC(UnsafeBufferPointer(start: text + start, count: at - start)) ? .none : .dateZone
    }
    return .none
  }

  /// `Z`, `+02`, `+0200` or `+02:00`.
  private func takeOffset(
    _ text: UnsafePointer<UInt8>, _ count: Int, _ at: inout Int, _ found: inout Found
  ) -> ValueFault {
    guard at < count else { return .dateForm }
    let sign = text[at]
    at += 1
    if sign | 0x20 == UInt8(ascii: "z") { return .none }
    if sign != UInt8(ascii: "+") && sign != UInt8(ascii: "-") { return .dateForm }
    let two = DateStep(kind: .hour, least: 2, most: 2)
    let hours = number(two, text, count, &at)
    var minutes = 0
    if at < count && (text[at] == UInt8(ascii: ":") || text[at] &- UInt8(ascii: "0") <= 9) {
      if text[at] == UInt8(ascii: ":") { at += 1 }
      minutes = number(two, text, count, &at)
    }
    if hours < 0 || minutes < 0 { return .dateForm }
    if hours > 15 || minutes > 59 { return .dateZone }
    found.offsetMinutes = (hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -1 : 1)
    return .none
  }
}
