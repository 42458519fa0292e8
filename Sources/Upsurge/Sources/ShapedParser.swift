/// A parser whose records are shaped as soon as they are parsed (see `RecordShaper`).
package struct ShapedParser<Base: RecordParser>: RecordParser {
  private var base: Base
  private let shaper: RecordShaper
  private let file: String

  /// - Parameter base: a parser of fields as they are written.
  init(_ base: Base, _ shaper: RecordShaper, file: String) {
    (self.base, self.shaper, self.file) = (base, shaper, file)
  }

  package var columns: [ColumnTarget] { shaper.columns }

  /// Fields that the SQL speaks of and no record has, as far as is known.
  var lackingFields: [String] { shaper.lackingFields }

  package var cancellation: ReadCancellation? {
    get { base.cancellation }
    set { base.cancellation = newValue }
  }

  package mutating func parse(_ batch: inout Batch, isFinal: Bool) throws(UpsurgeError) {
    if !shaper.pending.isEmpty {
      guard shaper.pending.giveBack(to: &batch, width: base.columns.count) else { return }
      return try shaper.shape(&batch, fields: base.columns)
    }
    // What the parser announces are fields.
    let announced = batch.newColumns
    do throws(UpsurgeError) { try base.parse(&batch, isFinal: isFinal) } catch {
      batch.newColumns = announced
      try shaper.shape(&batch, fields: base.columns)
      throw error
    }
    batch.newColumns = announced
    if batch.growth.wantedSpillByteCount > 0 && batch.recordCount == 0 { return }
    try shaper.shape(&batch, fields: base.columns)
  }

  package mutating func rejectTooLarge(_ batch: inout Batch, limit: Int) throws(UpsurgeError) {
    if shaper.pending.isEmpty { return try base.rejectTooLarge(&batch, limit: limit) }
    shaper.pending.rejectFirst(in: &batch, file: file, limit: limit)
  }

  package var state: ParserState? { shaper.pending.isEmpty ? base.state : nil }

  package mutating func resume(from state: ParserState) throws(UpsurgeError) { try base.resume(from: state) }
}
