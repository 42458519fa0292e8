#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What a replay finds that an earlier one has left, because it was killed or stopped.
extension FileReplay {
  /// Finishes what an earlier replay of a file that is locked had as good as done.
  /// - Parameters:
  ///   - shown: the path as it was given.
  ///   - marks: those that the database holds.
  /// - Returns: the mark after which this replay goes on, or, where it is whole, whose ledger nobody has seen.
  /// - Throws: `guardRefused` where nobody can say which records are stored.
  static func settle(
    _ path: String, shown: String, _ marks: [ReplayMark]
  ) throws(UpsurgeError) -> ReplayMark? {
    let marks = marks.filter(\.isOfFile)
    for mark in marks where mark.path != path {
      if try place(in: path, through: mark.doneByteCount) == mark.done { throw moved(mark, shown) }
    }
    // A server may hold marks of other machines' files under this path.
    let own = marks.filter { $0.path == path }
    for mark in own {
      if mark.isWhole, try place(in: path, through: mark.keptByteCount) == mark.kept { return mark }
      guard try place(in: path, through: mark.doneByteCount) == mark.done else { continue }
      guard mark.isWhole else { return mark }
      let rest = try RejectFileRewrite(target: path, mode: fileMode(path), continuing: mark.kept)
      try rest.takePlace()
      return mark
    }
    if own.isEmpty { return nil }
    throw changed(shown, path)
  }

  /// The path without links and dots, under which a replay is known.
  /// - Throws: `unreadableInput`.
  static func absolute(_ path: String) throws(UpsurgeError) -> String {
    if let resolved = realPath(path) { return resolved }
    throw UpsurgeError(
      .unreadableInput, "cannot read \(path.escapedForTerminal): \(String(cString: strerror(errno)))",
      underlyingCode: errno)
  }

  /// What the first lines of a file come to.
  private static func place(
    in path: String, through byteCount: UInt64
  ) throws(UpsurgeError) -> ChainedBytes {
    let reader = try RejectFileReader(path: path, locks: false)
    if reader.byteCount < byteCount { return ChainedBytes() }
    while reader.place.byteCount < byteCount, try reader.next() != nil {}
    return reader.place
  }

  private static func fileMode(_ path: String) -> mode_t {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0o600
  }

  private static func moved(_ mark: ReplayMark, _ shown: String) -> UpsurgeError {
    let place = mark.path.escapedForTerminal
    return UpsurgeError(
      .guardRefused,
      "an earlier replay of \(shown.escapedForTerminal), when it was \(place), was cut short, and has stored some of its "
        + "records",
      hint: "move it back to \(place), where what is left of it lies too, and replay it there")
  }

  private static func changed(_ shown: String, _ path: String) -> UpsurgeError {
    let shown = shown.escapedForTerminal
    return UpsurgeError(
      .guardRefused,
      "an earlier replay of \(shown) was cut short, and its first lines, of which some are stored, have changed since",
      hint:
        "put them back to let it go on. If \(shown) is another file by now, forget that replay: the next one then tries all "
        + "its records, also stored ones (without a key they are stored again): DELETE FROM upsurge_replays WHERE path = "
        + "\((try? SQLName.literal(path)) ?? "...")")
  }
}

extension ReplayMark {
  var done: ChainedBytes { ChainedBytes(byteCount: doneByteCount, hash: doneHash) }
  var kept: ChainedBytes { ChainedBytes(byteCount: keptByteCount, hash: keptHash) }
}
