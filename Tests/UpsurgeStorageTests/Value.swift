import CSQLite
import UpsurgeRecords

@testable import UpsurgeSQLite

/// A value as the tests write it; becomes a cell, an SQL literal, or what a query gave.
enum Value: Equatable, Hashable, CustomStringConvertible, ExpressibleByIntegerLiteral,
  ExpressibleByStringLiteral,
  ExpressibleByFloatLiteral, ExpressibleByNilLiteral
{
  case absent, null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])

  init(integerLiteral value: Int64) { self = .integer(value) }
  init(stringLiteral value: String) { self = .text(value) }
  init(floatLiteral value: Double) { self = .real(value) }
  init(nilLiteral: ()) { self = .null }

  /// As SQL and as a person would write it; tells 1 from 1.0 and '1'.
  var description: String {
    switch self {
    case .absent: "-"
    case .null: "NULL"
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .text(let value):
      "'" + value.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    case .blob(let bytes):
      "x'" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
    }
  }
}

/// Makes batches out of values: each record's raw bytes are its values joined by commas, as a CSV would be.
struct BatchMaker {
  var columns: [ColumnTarget]
  /// Number of the next record, and its line.
  var number: UInt64 = 1
  var sourceOffset: UInt64 = 0
  var sizes = Batch.Sizes(arenaByteCount: 1 << 20, cellCount: 1 << 16, recordCount: 1 << 14)

  init(_ names: [String]) {
    columns = names.map { ColumnTarget(name: $0, affinity: .none, spellingPolicy: .warn) }
  }

  /// One batch that holds these rows; texts lie in the arena, every second one in the spill.
  mutating func batch(_ rows: [[Value]], rejecting rejected: Set<Int> = []) -> Batch {
    var batch = Batch(sizes: sizes)
    batch.origin.sourceOffset = sourceOffset
    batch.begin(columnCount: columns.count)
    for (index, row) in rows.enumerated() {
      precondition(row.count == columns.count, "a row has another number of values")
      if rejected.contains(index) {
        let raw = Array("bad \(index)".utf8)
        batch.rejects.append(
          raw.withUnsafeBufferPointer {
            Reject(
              .ragged,
              at: Position(
                file: "in.csv", record: number, line: number + 1,
                byte: batch.origin.sourceOffset + UInt64(batch.arenaByteCount)),
              reason: "too few fields", raw: $0)
          })
        number += 1
        continue
      }
      append(row, to: &batch)
    }
    batch.parsedByteCount = batch.arenaByteCount
    sourceOffset += UInt64(batch.arenaByteCount)
    return batch
  }

  private mutating func append(_ row: [Value], to batch: inout Batch) {
    let start = batch.arenaByteCount
    for (index, value) in row.enumerated() {
      if index > 0 { write([UInt8(ascii: ",")], to: &batch) }
      let at = batch.recordCount * columns.count + index
      var cell: Cell
      switch value {
      case .absent:
        cell = .absent
        batch.hasAbsentCells = true
      case .null: cell = .null
      case .integer(let number):
        cell = .integer(number)
        write(Array("\(number)".utf8), to: &batch)
      case .real(let number):
        cell = .real(number)
        write(Array("\(number)".utf8), to: &batch)
      case .text(let text):
        cell = place(Array(text.utf8), in: &batch, isInSpill: (at + batch.recordCount) % 2 == 1)
      case .blob(let bytes):
        cell = place(bytes, in: &batch, isInSpill: false)
        cell.kind = .blob
      }
      (batch.cells + at).initialize(to: cell)
    }
    let count = batch.arenaByteCount - start
    (batch.records + batch.recordCount).initialize(
      to: RecordPosition(arenaOffset: start, byteCount: count, line: number + 1, number: number))
    batch.recordCount += 1
    number += 1
    write([0x0A], to: &batch)
  }

  private func place(_ bytes: [UInt8], in batch: inout Batch, isInSpill: Bool) -> Cell {
    let offset = isInSpill ? batch.spillByteCount : batch.arenaByteCount
    write(bytes, to: &batch)
    if isInSpill {
      (batch.spill + offset).update(from: bytes, count: bytes.count)
      batch.spillByteCount += bytes.count
    }
    return .text(offset: offset, byteCount: bytes.count, isInSpill: isInSpill)
  }

  private func write(_ bytes: [UInt8], to batch: inout Batch) {
    precondition(batch.arenaByteCount + bytes.count <= batch.arenaCapacity, "give the test a larger arena")
    (batch.arena + batch.arenaByteCount).update(from: bytes, count: bytes.count)
    batch.arenaByteCount += bytes.count
  }
}

extension Connection {
  /// All rows of a query.
  func rows(_ sql: String, _ arguments: [Value] = []) throws(UpsurgeError) -> [[Value]] {
    let statement = try prepare(sql)
    for (index, value) in arguments.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
    var rows: [[Value]] = []
    while try statement.step() {
      rows.append((0..<sqlite3_column_count(statement.handle)).map { statement.value(at: $0) })
    }
    return rows
  }
}

extension Statement {
  func value(at column: Int32) -> Value {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_INTEGER: return .integer(integer(at: column))
    case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, column))
    case SQLITE_TEXT: return .text(text(at: column) ?? "")
    case SQLITE_BLOB:
      let count = Int(sqlite3_column_bytes(handle, column))
      guard let start = sqlite3_column_blob(handle, column) else { return .blob([]) }
      return .blob(Array(UnsafeRawBufferPointer(start: start, count: count)))
    default: return .null
    }
  }

  func bind(_ value: Value, at parameter: Int32) throws(UpsurgeError) {
    switch value {
    case .absent, .null: sqlite3_bind_null(handle, parameter)
    case .integer(let number): try bind(number, at: parameter)
    case .real(let number): sqlite3_bind_double(handle, parameter, number)
    case .text(let text): try bind(text, at: parameter)
    case .blob(let bytes):
      let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      sqlite3_bind_blob64(handle, parameter, bytes.isEmpty ? [0] : bytes, UInt64(bytes.count), transient)
    }
  }
}
