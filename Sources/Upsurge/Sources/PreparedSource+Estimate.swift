extension PreparedSource {
  /// How much sources hold of which this is the first, by the size of its records and its compression so far.
  /// - Parameter totalByteCount: of all sources as they lie there; nil when that is not known.
  /// - Returns: nil when it cannot be told; a source that is small and highly compressed is underestimated.
  func estimate(totalByteCount: UInt64?, options: LoadOptions) -> LoadEstimate? {
    guard let totalByteCount, !opened.sample.isEmpty else { return nil }
    let readByteCount = opened.counter.count
    let recordCount = sampleRecordCount(options: options)
    guard readByteCount > 0, recordCount > 0 else { return nil }
    let ratio = Double(opened.sample.count) / Double(readByteCount)
    let byteCount = Double(totalByteCount) * ratio
    let records = byteCount * Double(recordCount) / Double(opened.sample.count)
    return LoadEstimate(recordCount: Int(records), byteCount: Int(byteCount))
  }

  /// Records in the sample; 0 when it cannot be parsed.
  private func sampleRecordCount(options given: LoadOptions) -> Int {
    var options = given
    options.table.inference = .sample
    let pool = BatchPool(
      count: 2, sizes: options.tuning.batchSizes, allowance: options.transaction.largeBatchByteLimit)
    var filler = BatchFiller(pool: pool, recordByteLimit: options.transaction.recordByteLimit, sourceIndex: 0)
    var rest = opened.sample[...]
    let read: (UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int = { buffer in
      let count = min(buffer.count, rest.count)
      rest.prefix(count).withUnsafeBytes { buffer.copyMemory(from: $0) }
      rest = rest.dropFirst(count)
      return count
    }
    var count = 0
    let emit: (consuming sending Batch) -> Bool = { batch in
      count += batch.recordCount
      pool.giveBack(batch)
      return true
    }
    let isWhole = opened.isSampleWhole
    do throws(UpsurgeError) {
      switch try inferenceParser(options: options) {
      case .csv(var parser):
        try filler.run(&parser, startOffset: 0, isWhole: isWhole, read: read, emit: emit)
      case .json(var parser):
        try filler.run(&parser, startOffset: 0, isWhole: isWhole, read: read, emit: emit)
      case .shapedCSV(var parser):
        try filler.run(&parser, startOffset: 0, isWhole: isWhole, read: read, emit: emit)
      case .shapedJSON(var parser):
        try filler.run(&parser, startOffset: 0, isWhole: isWhole, read: read, emit: emit)
      }
    } catch {
      // What is wrong with the input is said when it is loaded.
    }
    return count
  }
}
