import UpsurgeStorage

/// Texts that SQL has taken for numbers, or compared with numbers.
extension RecordShaper {
  /// Counts the fields of a record whose value is another one to SQL than it seems to be.
  /// - Parameter isKept: whether computed columns were evaluated, and not the condition alone.
  @inline(__always)
  func noteNumbers(isKept: Bool, _ record: Int, _ text: FieldConverter.Text, _ batch: inout Batch) {
    if sql.sql.numberUses.isEmpty { return }
    for use in sql.sql.numberUses where values[use.place].kind == .text && (isKept || use.isOfFilter) {
      if use.isCompared {
        note(.textAgainstNumber, use, record, &batch)
      } else if !converter.isNumber(values[use.place], text) {
        note(.textAsNumber, use, record, &batch)
      }
    }
  }

  @inline(never)
  private func note(_ code: WarningLog.Code, _ use: RecordSQL.FieldUse, _ record: Int, _ batch: inout Batch) {
    let place = batch.position(of: record, file: file)
    batch.warnings.add(code, column: sql.fieldNames[use.place], at: place)
  }
}
