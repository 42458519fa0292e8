/// A column of a table of figures for a terminal.
package struct FigureColumn: Sendable {
  package let name: String
  /// Letters, with the space before it.
  package let width: Int

  package init(_ name: String, width: Int) { (self.name, self.width) = (name, width) }

  /// What each table of figures begins with.
  package static let measured = [
    FigureColumn("seconds", width: 9), FigureColumn("rows/s", width: 12), FigureColumn("spread", width: 8),
    FigureColumn("runs", width: 6),
  ]

  /// A line: a name that is so many letters wide, and texts that end where their columns end.
  package static func line(
    _ name: String, _ nameWidth: Int, _ values: some Sequence<(FigureColumn, String)>
  ) -> String {
    var line = name + String(repeating: " ", count: max(nameWidth - name.count, 0))
    for (column, value) in values {
      line += String(repeating: " ", count: max(column.width - value.count, 1)) + value
    }
    return line
  }
}
