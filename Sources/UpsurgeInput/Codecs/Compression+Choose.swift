import UpsurgeRecords

extension Compression {
  /// Which decompressor a stream needs, from what the user asked for and its first bytes; never `.auto`.
  /// - Throws: `badInput` when the two contradict each other, or the bytes are of a format that is not read here.
  func chosen(for prefix: [UInt8], name: String) throws(UpsurgeError) -> Compression {
    let found = Compression.detect(prefix)
    switch self {
    case .none: return .none
    case .auto:
      if found == .none, let format = ForeignFormat.detect(prefix) { throw format.error(name) }
      return found
    case .zstd, .gzip, .xz, .bzip2, .lz4, .compress:
      if found == self { return self }
      throw contradiction(prefix, found: found, name: name)
    }
  }

  private func contradiction(_ prefix: [UInt8], found: Compression, name: String) -> UpsurgeError {
    let shown = SourceName.shown(name)
    let position = Position(file: name, byte: 0)
    if prefix.isEmpty {
      return UpsurgeError(
        .badInput, "\(shown) is empty, which no \(rawValue) file is", position: position,
        hint: "make it again; \(.compression, "auto") takes an empty file for no records")
    }
    if found != .none {
      return UpsurgeError(
        .badInput, "\(shown) is \(found.rawValue), not \(rawValue)", position: position,
        hint: "\(.compression, found.rawValue), or auto")
    }
    if let format = ForeignFormat.detect(prefix) { return format.error(name) }
    return isNot(prefix, name: name)
  }

  /// Content that does not begin as that of the format does.
  func isNot(_ bytes: some Sequence<UInt8>, name: String) -> UpsurgeError {
    UpsurgeError(
      .badInput,
      "\(SourceName.shown(name)) is not \(rawValue): it starts with the bytes \(hexText(bytes.prefix(4)))",
      position: Position(file: name, byte: 0),
      hint: "\(.compression, "auto") finds out by itself; none takes the bytes as they are")
  }
}

/// `28 B5 2F FD`
func hexText(_ bytes: some Sequence<UInt8>) -> String {
  bytes.map { byte in
    let digits = String(byte, radix: 16, uppercase: true)
    return digits.utf8.count == 1 ? "0" + digits : digits
  }.joined(separator: " ")
}
