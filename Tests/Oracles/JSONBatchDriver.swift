import UpsurgeParsing
import UpsurgeRecords

/// A value of a record, exact to the bit.
package enum RecordValue: Equatable, CustomStringConvertible {
  case null
  case integer(Int64)
  case real(UInt64)
  case text([UInt8])

  package static func text(_ text: String) -> RecordValue { .text(Array(text.utf8)) }
  package static func real(_ value: Double) -> RecordValue { .real(value.bitPattern) }

  package var description: String {
    switch self {
    case .null: "null"
    case .integer(let value): "\(value)"
    case .real(let bits): "real \(Double(bitPattern: bits))"
    case .text(let bytes): "\"\(String(decoding: bytes, as: UTF8.self).escapedForTerminal)\""
    }
  }
}

/// All that a parser made of an input, so that two runs can be compared.
package struct ParsedInput: Equatable {
  package struct Record: Equatable {
    /// What the record says, by column; columns it does not speak of are left out.
    package var values: [String: RecordValue]
    package var position: Position
    package var raw: [UInt8]
  }

  package struct Rejected: Equatable {
    package var code: Reject.Code
    package var column: String?
    package var position: Position
    package var raw: [UInt8]
  }

  package var records: [Record] = []
  package var rejects: [Rejected] = []
  package var reasons: [String] = []
  package var warnings = WarningLog()
  package var columns: [ColumnTarget] = []
  package var error: UpsurgeError?

  package static func == (left: ParsedInput, right: ParsedInput) -> Bool {
    left.records == right.records && left.rejects == right.rejects && left.warnings == right.warnings
      && left.columns == right.columns && left.error?.message == right.error?.message
      && left.error?.position == right.error?.position
  }
}

/// Feeds bytes to a parser through batches as the pipeline does: fill the arena, parse, hand the batch on, take
/// the unparsed tail over; grow the arena when not one record fits.
package struct JSONBatchDriver {
  package var sizes: Batch.Sizes
  /// The most bytes put into the arena between two calls of `parse`; the last one counts for all that follow.
  package var pieces: [Int]
  /// A record larger than this is given up.
  package var recordLimit: Int
  /// Whether the end is only known when all bytes are parsed, as with a pipe.
  package var isEndLate: Bool

  package init(
    sizes: Batch.Sizes = .standard, pieces: [Int] = [.max], recordLimit: Int = .max, isEndLate: Bool = false
  ) {
    self.sizes = sizes
    self.pieces = pieces
    self.recordLimit = recordLimit
    self.isEndLate = isEndLate
  }

  /// Everything that the parser makes of the bytes.
  /// - Parameter remake: when given, each batch has a parser of its own, made for the columns so far, which goes on
  ///   where the one before stood.
  package func run<Parser: RecordParser>(
    _ input: [UInt8], _ parser: inout Parser, remakingIt remake: (([ColumnTarget]) -> Parser)? = nil
  ) -> ParsedInput {
    var result = ParsedInput()
    do throws(UpsurgeError) {
      try run(input, &parser, remakingIt: remake, into: &result)
    } catch {
      result.error = error
    }
    return result
  }

  private func run<Parser: RecordParser>(
    _ input: [UInt8], _ parser: inout Parser, remakingIt remake: (([ColumnTarget]) -> Parser)?,
    into result: inout ParsedInput
  ) throws(UpsurgeError) {
    var batch = Batch(sizes: sizes)
    var consumed = 0
    var round = 0
    var announced: [ColumnTarget] = parser.columns
    result.columns = announced
    while true {
      let wasAtEnd = consumed == input.count
      let count = min(pieces[min(round, pieces.count - 1)], batch.freeArena.count, input.count - consumed)
      round += 1
      batch.freeArena.copyBytes(from: input[consumed..<consumed + count])
      batch.arenaByteCount += count
      consumed += count
      let isFinal = isEndLate ? wasAtEnd : consumed == input.count
      do throws(UpsurgeError) {
        try parser.parse(&batch, isFinal: isFinal)
      } catch {
        collect(batch, &announced, into: &result)
        throw error
      }
      check(batch)
      let isDone = isFinal && batch.parsedByteCount == batch.arenaByteCount
      if isDone {
        collect(batch, &announced, into: &result)
        result.columns = announced
        return
      }
      if batch.parsedByteCount == 0 && batch.recordCount == 0 && !batch.isClosed {
        if batch.arenaByteCount < batch.arenaCapacity {
          precondition(!isFinal, "a final parse must use all bytes or fill the batch")
          continue
        }
        if batch.arenaCapacity >= recordLimit {
          try parser.rejectTooLarge(&batch, limit: recordLimit)
        } else {
          batch.growArena(to: batch.arenaCapacity * 2)
        }
        continue
      }
      collect(batch, &announced, into: &result)
      var next = Batch(sizes: sizes)
      next.takeTail(of: &batch)
      batch = next
      if let remake, let state = parser.state {
        parser = remake(announced)
        try parser.resume(from: state)
      }
    }
  }

  private func check(_ batch: borrowing Batch) {
    precondition(batch.parsedByteCount <= batch.arenaByteCount)
    precondition(batch.spillByteCount <= batch.arenaCapacity)
    for index in 0..<batch.recordCount * batch.columnCount where batch.cells[index].kind == .text {
      let cell = batch.cells[index]
      let end = Int(cell.payload) + Int(cell.byteCount)
      precondition(
        end <= (cell.isInSpill ? batch.spillByteCount : batch.parsedByteCount), "text out of bounds")
    }
  }

  private func collect(
    _ batch: borrowing Batch, _ announced: inout [ColumnTarget], into result: inout ParsedInput
  ) {
    announced += batch.newColumns
    if batch.recordCount > 0 {
      precondition(batch.columnCount == announced.count, "a batch has all columns announced so far")
    }
    var hasAbsent = false
    for record in 0..<batch.recordCount {
      var values: [String: RecordValue] = [:]
      for slot in 0..<batch.columnCount {
        let cell = batch.cells[record * batch.columnCount + slot]
        switch cell.kind {
        case .absent: hasAbsent = true
        case .null: values[announced[slot].name] = .null
        case .integer: values[announced[slot].name] = .integer(Int64(bitPattern: cell.payload))
        case .real: values[announced[slot].name] = .real(cell.payload)
        case .text, .blob: values[announced[slot].name] = .text(Array(batch.bytes(of: cell)))
        }
      }
      result.records.append(
        ParsedInput.Record(
          values: values, position: batch.position(of: record, file: "t"),
          raw: Array(batch.rawBytes(of: record))))
    }
    precondition(!hasAbsent || batch.hasAbsentCells, "absent cells must be announced")
    for reject in batch.rejects {
      result.rejects.append(
        ParsedInput.Rejected(
          code: reject.code, column: reject.column, position: reject.position, raw: reject.raw))
      result.reasons.append(reject.reason)
    }
    result.warnings.merge(batch.warnings)
    result.columns = announced
  }
}
