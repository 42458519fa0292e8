/// What of a file of rejects a run that goes on leaves in it.
///
/// The records tell it: a line about a record that is not committed goes, with all behind it, as the run reads that
/// record again. So the place is found also where lines were mended, replayed or deleted since.
struct KeptRejects {
  /// Bytes from the start that stay.
  private(set) var byteCount: UInt64 = 0
  /// Whether they end with a line end.
  private(set) var endsLine = true
  /// The context of the last line that stays.
  private(set) var context: String?

  /// - Throws: `cannotCreate` for what is no file of rejects.
  init(_ path: String, of run: RunRecord) throws(UpsurgeError) {
    let place = CommittedPlace(run)
    let reader = try RejectFileReader(path: path, locks: false)
    var above: String?
    while let piece = try reader.next() {
      guard let line = piece.line else {
        keep(reader, piece, above)
        continue
      }
      let json = try? JSONValue(String(decoding: line, as: UTF8.self))
      if let json, RejectContext.isContext(json) {
        above = String(decoding: line, as: UTF8.self)
        continue
      }
      if above == nil {
        throw UpsurgeError(
          .cannotCreate,
          "\(path.escapedForTerminal) is no file of rejects any more, so --rejects cannot go on in it",
          hint: "move it away, or give another path to --rejects")
      }
      // A line without its end was being written when the run was killed.
      if json == nil && piece.bytes.last != 0x0A { return }
      if let json, let reject = try? RejectLine.read(json), place.isAhead(reject.position) { return }
      keep(reader, piece, above)
    }
  }

  private mutating func keep(_ reader: RejectFileReader, _ piece: RejectFileReader.Piece, _ above: String?) {
    byteCount = reader.place.byteCount
    endsLine = piece.bytes.last == 0x0A
    context = above
  }
}

/// How far a run that has not ended has come: what is ahead of it is read again when it goes on.
struct CommittedPlace: Sendable {
  private let file: String
  private let record: UInt64
  private let laterFiles: Set<String>

  init(_ run: RunRecord) {
    let names = run.files.map { Self.spelled($0.name) }
    let index = run.position.sourceIndex
    file = names.indices.contains(index) ? names[index] : ""
    record = run.position.position.record ?? 0
    laterFiles = Set(names.dropFirst(index + 1)).subtracting(names.prefix(index + 1))
  }

  /// Whether a record is one that the run will read again.
  func isAhead(_ position: Position) -> Bool {
    let name = Self.spelled(position.file)
    return name == file ? (position.record ?? 0) > record : laterFiles.contains(name)
  }

  private static func spelled(_ name: String) -> String {
    SourceName.isStandardInput(name) ? SourceName.standardInput : name
  }
}
