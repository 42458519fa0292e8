extension WarningLog {
  /// Counts what a sheet could not say as values.
  mutating func add(_ notes: SheetNotes?, of name: String) {
    for note in notes?.all ?? [] {
      add(note.code, count: note.count, at: Position(file: name, line: note.row))
    }
  }
}
