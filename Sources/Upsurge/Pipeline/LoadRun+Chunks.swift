/// What a run knows of the chunks of a delivery, and when it may trust that.
extension LoadRun {
  /// What its threads tell each other of chunks; nil where the run has to do with none.
  /// - Parameter source: the delivery.
  func deliveryChunks(
    of source: PreparedSource, for table: PreparedTable, names: [String], on connection: Connection
  ) throws(UpsurgeError) -> DeliveryChunks? {
    let options = job.options
    if options.delivery.rules.snapshot == nil || options.output.isTrial
      || options.transaction.durability == .off
    {
      return nil
    }
    guard let reading = source.chunkWords(options, sourceCount: names.count),
      !table.plan.schema.isChangedByItsSweep, let cells = table.plan.rememberedKeyCells,
      try !table.plan.isWritten(by: TriggerText.read(connection)),
      try !QuarantineTable.holds(job.table, connection)
    else { return try ChunkTable.exists(connection) ? DeliveryChunks(forgetting: ()) : nil }
    return try DeliveryChunks(reading: "\(reading) \(table.plan.keyWords) \(cells)", keyCells: cells, options) {
      (limit) throws(UpsurgeError) in try ChunkTable.read(job.table, limit: limit, on: connection)
    }
  }
}

extension DeliveryChunks {
  /// - Parameters:
  ///   - words: what decides how the bytes become records, and which rows these are about.
  ///   - known: what the last delivery was made of, in so many chunks at most; nil where that is not known.
  package convenience init(
    reading words: String, keyCells: [Int], _ options: LoadOptions,
    known: (_ limit: Int) throws(UpsurgeError) -> ChunkManifest?
  ) throws(UpsurgeError) {
    let fingerprint = String(Array(words.utf8).withUnsafeBytes { ContentHash.hash($0) }, radix: 16)
    let chunkLimit = options.transaction.memory.byteCount / 512
    var manifest: ChunkManifest?
    if options.delivery.chunks == .use, options.output.changesPath == nil, options.output.emitPath == nil,
      !(options.rejects.target?.isFile ?? false)
    {
      manifest = try known(chunkLimit)
      let isLast = manifest?.recordCount == options.delivery.rules.snapshot?.lastCount
      // Where no chunk can be found again, as in a small delivery, there is nothing to look for, and all is remembered anew.
      let isAnyFit = manifest?.chunks.contains { $0.hash != nil } ?? false
      if manifest?.fingerprint != fingerprint || !isLast || !isAnyFit { manifest = nil }
    }
    self.init(
      manifest: manifest, fingerprint: fingerprint, keyCells: keyCells, chunkLimit: chunkLimit,
      keyLimit: options.transaction.memory.byteCount / 128)
  }
}

extension PreparedSource {
  /// What decides how the bytes of a delivery become records, where the request lets its chunks be remembered; else nil.
  /// - Parameter sourceCount: how many sources the delivery has.
  package func chunkWords(_ options: LoadOptions, sourceCount: Int) -> String? {
    guard options.delivery.chunks != .none, sourceCount == 1, options.transaction.isAtomic,
      options.input.recordLimit == nil, opened.isSeekable, let shape = shapeWords
    else { return nil }
    return "2 \(shape) \(opened.encoding.rawValue)"
  }

  /// What decides how bytes become records; nil for a JSON document, whose records end where brackets say so.
  fileprivate var shapeWords: String? {
    switch shape {
    case .json(.json): return nil
    case .json(.ndjson): return "ndjson"
    case .csv(let sniffed):
      let dialect = sniffed.dialect
      return
        "\(dialect.delimiter) \(dialect.quote ?? 0) \(dialect.escape ?? 0)\(dialect.escaping == .any ? "" : dialect.escaping.rawValue) \(dialect.commentPrefix ?? []) "
        + "\(dialect.nullSpellings) \(dialect.quotedEmpty.map { "\($0) " } ?? "")\(dialect.ragged) \(dialect.quotes == .strict ? "" : "\(dialect.quotes) ")\(dialect.bareEmpty == .null ? "" : "empty ")\(dialect.headerLineCount) \(dialect.skippedLineCount) "
        + "\(sniffed.headerNames)"
    }
  }
}

extension TableSchema {
  /// Whether a row that goes may, by ON DELETE or ON UPDATE, change other rows of the table: those would not be what
  /// their records said, although neither record has changed.
  fileprivate var isChangedByItsSweep: Bool { hasActingReferences && !foreignKeys.isEmpty }
}

extension RejectsTarget {
  fileprivate var isFile: Bool {
    if case .file = self { return true }
    return false
  }
}
