/// The records of a source, typed as a load would store them in a table that is there. Nothing is written.
package struct TypedRecords {
  /// The columns of every batch.
  package let columnNames: [String]
  private let opened: OpenedSource
  private let parser: SourceParser
  private let options: LoadOptions

  /// - Parameter connection: is asked for the table, on its thread.
  /// - Throws: what the load would throw before its first record.
  package init(
    of source: PreparedSource, for table: String, on connection: Connection, options: LoadOptions
  ) throws(UpsurgeError) {
    var prepared = try PreparedTable.prepare(table, for: source, others: [], on: connection, options: options)
    parser = try source.makeParser(columns: &prepared.columns, table: prepared.facts, options: options)
    columnNames = prepared.columns.targets.map(\.name)
    opened = source.opened
    self.options = options
  }

  /// Reads them once, no more than `recordLimit` of the options.
  /// - Parameter take: copies what it wants of a batch, whose memory is used again; false stops.
  package func read(_ take: (borrowing Batch) -> Bool) throws(UpsurgeError) {
    let pool = BatchPool(
      count: 2, sizes: options.tuning.batchSizes, allowance: options.transaction.largeBatchByteLimit)
    var filler = BatchFiller(pool: pool, recordByteLimit: options.transaction.recordByteLimit, sourceIndex: 0)
    let limit = options.input.recordLimit ?? .max
    let emit: (consuming sending Batch) -> Bool = { batch in
      var batch = batch
      let last = limit < .max ? batch.trim(toRecord: limit) : 0
      let goesOn = take(batch)
      pool.giveBack(batch)
      return goesOn && last < limit
    }
    let read: (UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int = { buffer throws(UpsurgeError) in
      try opened.read(into: buffer)
    }
    switch parser {
    case .csv(var parser):
      try filler.run(&parser, startOffset: opened.startOffset, isWhole: true, read: read, emit: emit)
    case .json(var parser):
      try filler.run(&parser, startOffset: opened.startOffset, isWhole: true, read: read, emit: emit)
    case .shapedCSV(var parser):
      try filler.run(&parser, startOffset: opened.startOffset, isWhole: true, read: read, emit: emit)
    case .shapedJSON(var parser):
      try filler.run(&parser, startOffset: opened.startOffset, isWhole: true, read: read, emit: emit)
    }
  }
}
