import TestSupport
import UpsurgeInput
import UpsurgeRecords

@testable import Upsurge

/// Runs a whole input, or the rest of it, through `BatchFiller` and keeps all that comes out.
struct RestartRun {
  struct Record: Equatable, CustomStringConvertible {
    var values: [String]
    var position: Position
    var raw: [UInt8]
    var description: String { "\(position): \(values)" }
  }

  struct Part {
    var restart: Restart?
    var records: [Record] = []
    var rejects: [Reject] = []
    var warnings = WarningLog()
    var newColumns: [ColumnTarget] = []
  }

  /// How the input is read; all runs that are compared read it the same way.
  struct Setting {
    var format: RestartFormat
    var opening: OpenedSource.Options
    var sizes: Batch.Sizes
    var recordByteLimit: Int
    /// The most bytes that one read gives.
    var pieceByteCount: Int
  }

  var parts: [Part] = []
  var error: String?

  /// - Parameter columns: those known where the run begins.
  init(_ path: String, _ setting: Setting, from restart: Restart? = nil, columns: [ColumnTarget]) throws {
    let source = try OpenedSource(name: path, options: setting.opening)
    do throws(UpsurgeError) {
      if let restart { try source.seek(to: restart.byte, from: restart.anchor) }
      switch setting.format.parser(columns: columns, file: path) {
      case .csv(var parser): try run(&parser, source, setting, from: restart)
      case .json(var parser): try run(&parser, source, setting, from: restart)
      case .shapedCSV(var parser): try run(&parser, source, setting, from: restart)
      case .shapedJSON(var parser): try run(&parser, source, setting, from: restart)
      }
    } catch {
      self.error = error.description
    }
  }

  private mutating func run<Parser: RecordParser>(
    _ parser: inout Parser, _ source: OpenedSource, _ setting: Setting, from restart: Restart?
  ) throws(UpsurgeError) {
    if let restart { try parser.resume(from: restart.parser) }
    let pool = BatchPool(count: 2, sizes: setting.sizes)
    var filler = BatchFiller(pool: pool, recordByteLimit: setting.recordByteLimit, sourceIndex: 0)
    var names = parser.columns.map(\.name)
    var parts: [Part] = []
    defer { self.parts = parts }
    let read: (UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int = { buffer throws(UpsurgeError) in
      try source.read(
        into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(setting.pieceByteCount)))
    }
    try filler.run(
      &parser, startOffset: restart?.byte ?? source.startOffset, isWhole: true, anchor: source.anchor,
      read: read,
      emit: { batch in
        names += batch.newColumns.map(\.name)
        parts.append(Part(batch, names: names, file: source.name))
        pool.giveBack(batch)
        return true
      })
  }
}

extension RestartRun.Part {
  init(_ batch: borrowing Batch, names: [String], file: String) {
    restart = batch.origin.restart
    rejects = batch.rejects
    warnings = batch.warnings
    newColumns = batch.newColumns
    for record in 0..<batch.recordCount {
      var values: [String] = []
      for column in 0..<batch.columnCount {
        let cell = batch.cells[record * batch.columnCount + column]
        if cell.kind == .absent { continue }
        let value =
          cell.kind == .text ? String(decoding: batch.bytes(of: cell), as: UTF8.self) : "\(cell.payload)"
        values.append("\(names[column]) \(cell.kind) \(value)")
      }
      records.append(
        RestartRun.Record(
          values: values, position: batch.position(of: record, file: file),
          raw: Array(batch.rawBytes(of: record))))
    }
  }
}

extension Sequence<RestartRun.Part> {
  /// Everything of some parts in a row.
  var joined: RestartRun.Part {
    var all = RestartRun.Part()
    for part in self {
      all.records += part.records
      all.rejects += part.rejects
      all.warnings.merge(part.warnings)
      all.newColumns += part.newColumns
    }
    return all
  }
}
