import UpsurgeRecords

/// Writes records as rows of COPY's binary format.
///
///     Int16 fields | Int32 length, bytes | Int32 length, bytes | ...       -1 is the length of NULL
///
/// A row of a staging table begins with the number of the record in its batch (`ord`).
package struct RowEncoder: Sendable {
  /// A field of the row: a column, and the slot of the record that holds its value.
  package struct Field: Sendable {
    package var column: BinaryColumn
    package var slot: Int

    package init(_ column: BinaryColumn, slot: Int) {
      self.column = column
      self.slot = slot
    }
  }

  /// Which field cannot be sent, and why.
  package struct Fault: Sendable, Equatable {
    package var field: Int
    package var fault: EncodingFault
  }

  package let fields: [Field]
  private let hasOrder: Bool

  package init(_ fields: [Field], hasOrder: Bool) {
    precondition(fields.count < Int(Int16.max), "PostgreSQL has no table of so many columns")
    self.fields = fields
    self.hasOrder = hasOrder
  }

  /// Adds records to the buffer until one cannot be sent.
  /// - Parameters:
  ///   - records: their indexes in the batch. The lower bound goes up to the first one that was not added.
  ///   - order: what is added to a record's index for its `ord`.
  /// - Returns: what is wrong with the record at the lower bound; nil when all were added. Nothing of it is in the buffer.
  package func encode(
    _ records: inout Range<Int>, of batch: borrowing Batch, order: Int32 = 0, into out: inout RowBuffer
  ) -> Fault? {
    let texts = CellTexts(batch)
    for record in records {
      if let fault = encode(record, texts, order: order, into: &out) {
        records = record..<records.upperBound
        return fault
      }
    }
    records = records.upperBound..<records.upperBound
    return nil
  }

  /// Adds one record.
  /// - Returns: what is wrong with it; nothing of it is in the buffer then.
  @inline(__always)
  func encode(_ record: Int, _ texts: CellTexts, order: Int32 = 0, into out: inout RowBuffer) -> Fault? {
    let start = out.count
    out.reserve(16)
    out.put(Int16(truncatingIfNeeded: fields.count + (hasOrder ? 1 : 0)))
    if hasOrder {
      out.put(Int32(4))
      out.put(order &+ Int32(truncatingIfNeeded: record))
    }
    let row = texts.cells + record * texts.columnCount
    for index in fields.indices {
      let field = fields[index]
      // A record that lacks the column says as much as one with a NULL here; whose statement names it decides more.
      let cell = field.slot < texts.columnCount ? row[field.slot] : .null
      if let fault = field.column.encode(cell, texts, into: &out) {
        out.count = start
        return Fault(field: index, fault: fault)
      }
    }
    return nil
  }
}
