import UpsurgeParsing
import UpsurgeRecords

/// Feeds bytes to a parser through batches as the pipeline does: fill the arena, parse, hand the batch on with its
/// tail going to the next one; enlarge the arena of a batch in which not even one record fits.
package struct BatchDriver {
  package var sizes: Batch.Sizes
  /// Offsets at which a fill ends early, ascending.
  package var splits: [Int]
  /// Whether the end of the source is only noticed by a read that gives nothing.
  package var noticesEndLate: Bool
  /// Records larger than this are given up, as `--memory` says.
  package var recordByteLimit: Int

  package init(
    sizes: Batch.Sizes = .standard, splits: [Int] = [], noticesEndLate: Bool = false,
    recordByteLimit: Int = .max
  ) {
    self.sizes = sizes
    self.splits = splits
    self.noticesEndLate = noticesEndLate
    self.recordByteLimit = recordByteLimit
  }

  /// The parser neither goes on nor asks for more.
  package struct Stuck: Error {
    var offset: Int
    var parsed: ParsedDocument
  }

  /// Everything that the parser makes of the bytes.
  /// - Throws: `Stuck`, `BrokenInvariant`, or what the parser throws.
  /// - Parameter remake: when given, each batch has a parser of its own, which goes on where the one before stood.
  package func parse(
    _ bytes: [UInt8], with parser: inout CSVParser, remakingIt remake: (() -> CSVParser)? = nil
  ) throws -> ParsedDocument {
    var document = ParsedDocument()
    var warnings = WarningLog()
    var batch = Batch(sizes: sizes)
    var offset = 0
    var splits = splits[...]
    var idleCount = 0
    while true {
      let wasAtEnd = offset == bytes.count
      while let split = splits.first, split <= offset { splits = splits.dropFirst() }
      let room = batch.arenaCapacity - batch.arenaByteCount
      let count = min(room, (splits.first ?? bytes.count) - offset)
      bytes.withUnsafeBufferPointer { source in
        guard count > 0, let start = source.baseAddress else { return }
        (batch.arena + batch.arenaByteCount).update(from: start + offset, count: count)
      }
      batch.arenaByteCount += count
      offset += count
      let isFinal = noticesEndLate ? wasAtEnd : offset == bytes.count

      let before = batch.parsedByteCount
      try parser.parse(&batch, isFinal: isFinal)
      try check(batch)
      let isIdle = batch.parsedByteCount == before && batch.rejects.isEmpty && count == 0
      idleCount = isIdle ? idleCount + 1 : 0
      if idleCount > 3 { throw Stuck(offset: offset, parsed: document) }

      if isFinal && batch.parsedByteCount == batch.arenaByteCount {
        collect(&batch, &document, &warnings)
        break
      }
      if batch.parsedByteCount > 0 || !batch.isEmpty {
        var next = Batch(sizes: sizes)
        next.takeTail(of: &batch)
        collect(&batch, &document, &warnings)
        batch = next
        if let remake, let state = parser.state {
          parser = remake()
          try parser.resume(from: state)
        }
      } else if batch.arenaByteCount > recordByteLimit {
        try parser.rejectTooLarge(&batch, limit: recordByteLimit)
      } else if batch.arenaByteCount == batch.arenaCapacity || isFinal {
        batch.growArena(to: batch.arenaCapacity * 2)
      }
    }
    document.warnings = warnings.entries.map {
      ParsedDocument.Warning(
        code: $0.code.rawValue, column: $0.column, count: $0.count, firstLine: $0.first.line,
        firstByte: $0.first.byte, firstRecord: $0.first.record)
    }
    document.sortWarnings()
    return document
  }

  /// What `Batch` promises of itself.
  private func check(_ batch: borrowing Batch) throws {
    var isSound =
      batch.parsedByteCount <= batch.arenaByteCount && batch.arenaByteCount <= batch.arenaCapacity
      && batch.spillByteCount <= batch.arenaCapacity && batch.recordCount <= batch.recordCapacity
      && batch.recordCount * batch.columnCount <= batch.cellCapacity
    for index in 0..<batch.recordCount * batch.columnCount where batch.cells[index].kind == .text {
      let cell = batch.cells[index]
      let end = Int(cell.payload) + Int(cell.byteCount)
      isSound = isSound && end <= (cell.isInSpill ? batch.spillByteCount : batch.parsedByteCount)
    }
    if !isSound { throw BrokenInvariant() }
  }

  struct BrokenInvariant: Error {}

  private func collect(_ batch: inout Batch, _ document: inout ParsedDocument, _ warnings: inout WarningLog) {
    for number in 0..<batch.recordCount {
      let position = batch.records[number]
      var fields: [[UInt8]?] = []
      for column in 0..<batch.columnCount {
        let cell = batch.cells[number * batch.columnCount + column]
        switch cell.kind {
        case .null: fields.append(nil)
        case .text: fields.append(Array(batch.bytes(of: cell)))
        case .integer: fields.append(Array(String(Int64(bitPattern: cell.payload)).utf8))
        case .real: fields.append(Array("\(Double(bitPattern: cell.payload))".utf8))
        case .absent, .blob: fields.append(Array("<\(cell.kind)>".utf8))
        }
      }
      document.records.append(
        ParsedDocument.Record(
          fields: fields, number: position.number, line: position.line,
          byte: batch.origin.sourceOffset + UInt64(position.arenaOffset), byteCount: Int(position.byteCount)))
    }
    for reject in batch.rejects {
      document.rejections.append(
        ParsedDocument.Rejection(
          code: reject.code.rawValue, number: reject.position.record ?? 0, line: reject.position.line ?? 0,
          byte: reject.position.byte ?? 0, column: reject.column, raw: reject.raw))
    }
    warnings.merge(batch.warnings)
  }
}

extension CSVParser {
  /// A parser that makes text of `fieldCount` fields, in columns `c1`, `c2`...
  package static func text(
    _ dialect: CSVDialect, fieldCount: Int, affinities: [Int: Affinity] = [:],
    spellingPolicy: ColumnTarget.SpellingPolicy = .reject, header: String? = nil, simdLevel: Int32? = nil
  ) -> CSVParser {
    var columns = (0..<fieldCount).map {
      ColumnTarget(name: "c\($0 + 1)", affinity: affinities[$0] ?? .text, spellingPolicy: spellingPolicy)
    }
    if dialect.ragged == .extra {
      columns.append(ColumnTarget(name: "extra", affinity: .text, spellingPolicy: .reject))
    }
    return CSVParser(
      dialect: dialect, file: "test.csv", columns: columns, slotOfField: Array(0..<fieldCount),
      header: header.map { Array($0.utf8) }, extraSlot: dialect.ragged == .extra ? fieldCount : nil, simdLevel: simdLevel)
  }
}
