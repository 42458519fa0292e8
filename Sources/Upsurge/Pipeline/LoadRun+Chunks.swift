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
    guard options.delivery.chunks != .none, names.count == 1, options.transaction.isAtomic,
      !table.plan.schema.isChangedByItsSweep,
      options.input.recordLimit == nil, options.input.filter == nil,
      source.opened.isSeekable, let shape = source.shapeWords, let cells = table.plan.rememberedKeyCells,
      try !table.plan.isWritten(by: TriggerText.read(connection)),
      try !QuarantineTable.holds(job.table, connection)
    else { return try ChunkTable.exists(connection) ? DeliveryChunks(forgetting: ()) : nil }
    let words =
      "2\(options.shapingWords) \(shape) \(source.opened.encoding.rawValue) \(table.plan.keyWords) \(cells)"
    let fingerprint = String(Array(words.utf8).withUnsafeBytes { ContentHash.hash($0) }, radix: 16)
    let chunkLimit = options.transaction.memory.byteCount / 512
    var manifest: ChunkManifest?
    if options.delivery.chunks == .use, options.output.changesPath == nil, options.output.emitPath == nil,
      !(options.rejects.target?.isFile ?? false)
    {
      manifest = try ChunkTable.read(job.table, limit: chunkLimit, on: connection)
      let isLast = manifest?.recordCount == options.delivery.rules.snapshot?.lastCount
      // Where no chunk can be found again, as in a small delivery, there is nothing to look for, and all is remembered anew.
      let isAnyFit = manifest?.chunks.contains { $0.hash != nil } ?? false
      if manifest?.fingerprint != fingerprint || !isLast || !isAnyFit { manifest = nil }
    }
    return DeliveryChunks(
      manifest: manifest, fingerprint: fingerprint, keyCells: cells, chunkLimit: chunkLimit,
      keyLimit: options.transaction.memory.byteCount / 128)
  }
}

extension PreparedSource {
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
