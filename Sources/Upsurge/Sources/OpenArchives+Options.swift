import UpsurgeInput

extension OpenArchives {
  /// Within the bounds that the options of a load set.
  convenience init(_ options: LoadOptions) {
    self.init(maximumRatio: options.input.maximumRatio, windowByteLimit: options.windowByteLimit)
  }
}

extension LoadOptions {
  /// The largest window or dictionary of a compressed stream.
  var windowByteLimit: Int {
    max(OpenedSource.Options().windowByteLimit, transaction.memory.byteCount / 4)
  }
}
