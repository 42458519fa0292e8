/// Where a cell is.
struct CellPlace {
  /// From 0.
  let column: Int
  /// From 1.
  let row: Int

  /// A reference: `C12`, `A1:B2`; nil for anything else.
  init?(_ text: UnsafePointer<CChar>) {
    var (at, column, row) = (0, 0, 0)
    while true {
      let letter = Int(UInt8(bitPattern: text[at]) & 0xDF) - 0x40
      guard (1...26).contains(letter) else { break }
      column = column * 26 + letter
      at += 1
      if at > 3 { return nil }
    }
    while true {
      let digit = Int(UInt8(bitPattern: text[at])) - 0x30
      guard (0...9).contains(digit), row < 1 << 30 else { break }
      row = row * 10 + digit
      at += 1
    }
    if column == 0 || row == 0 { return nil }
    (self.column, self.row) = (column - 1, row)
  }
}
