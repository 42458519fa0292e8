import UpsurgeInput

extension OpenArchives {
  /// Within the bounds that the options of a load set.
  /// - Parameter makeSpool: makes the file for texts of workbooks that do not fit in memory.
  convenience init(
    _ options: LoadOptions, makeSpool: @escaping @Sendable () -> SpoolFile = OpenArchives.temporarySpool
  ) {
    self.init(
      maximumRatio: options.input.maximumRatio, windowByteLimit: options.windowByteLimit,
      sheet: options.input.sheet,
      textByteLimit: options.transaction.memory.byteCount / 4, makeSpool: makeSpool)
  }
}

extension LoadOptions {
  /// What records may take that wait to be sorted, beside texts of workbooks.
  var sortByteCount: Int {
    let reserved = environment.archives?.reservedByteCount ?? 0
    return reserved == 0
      ? transaction.sortByteCount
      : max(transaction.sortByteCount - reserved, transaction.memory.byteCount / 8)
  }

  /// The largest window or dictionary of a compressed stream.
  var windowByteLimit: Int {
    max(OpenedSource.Options().windowByteLimit, transaction.memory.byteCount / 4)
  }
}
