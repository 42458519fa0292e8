/// What of a file of rejects a run that goes on leaves in it.
///
/// The records show it: a line about a record that is not committed goes, with all after it, as the run reads that
/// record again. So the place is found also where lines were repaired, replayed or deleted since.
struct KeptRejects {
  /// Bytes from the start that stay.
  private(set) var byteCount: UInt64 = 0
  /// Whether they end with a line end.
  private(set) var endsLine = true
  /// The context of the last line that stays.
  private(set) var context: String?

  /// Whether the file's first byte says that nothing is committed.
  private(set) var isUnconfirmed = false
  /// Whether nothing comes after them.
  private(set) var isWhole = true

  /// - Throws: `cannotCreate` for what is not a file of rejected records.
  init(_ path: String, of run: RunRecord) throws(UpsurgeError) {
    var place = CommittedPlace(run)
    let reader = try RejectFileReader(path: path, locks: false)
    var above: String?
    var folder: String?
    defer { (isWhole, isUnconfirmed) = (byteCount == reader.byteCount, reader.isUnconfirmed) }
    while let piece = try reader.next() {
      guard let line = piece.line else {
        keep(reader, piece, above)
        continue
      }
      let json = try? JSONValue(String(decoding: line, as: UTF8.self))
      if let json, RejectContext.isContext(json) {
        above = String(decoding: line, as: UTF8.self)
        folder = json[RejectContext.folderKey]?.text
        continue
      }
      if above == nil {
        // The first line itself was being written.
        if piece.bytes.last != 0x0A && RejectContext.mayBegin(line) { return }
        throw UpsurgeError(
          .cannotCreate,
          "\(path.escapedForTerminal) is no longer a file of rejected records, so \(.rejects) cannot add to it",
          hint: "move it away, or give another path to \(.rejects)")
      }
      // A line without its end was being written when the run was killed.
      if json == nil && piece.bytes.last != 0x0A { return }
      if let json, let reject = try? RejectLine.read(json), place.isAhead(reject, in: folder) { return }
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
  private let sourceIndex: Int
  private let record: UInt64
  /// Which sources a file is, by its place.
  private let sources: [String: [Int]]
  /// The file that was asked for last: rejects of one stand together.
  private var last: (name: String, folder: String?, sources: [Int])?

  init(_ run: RunRecord) {
    sourceIndex = run.position.sourceIndex
    record = run.position.position.record ?? 0
    sources = Dictionary(grouping: run.files.indices) { SourceName.place(of: run.files[$0].name) }
  }

  /// Whether a record is one that the run will read again.
  /// - Parameter folder: the folder in which the name of its file begins; nil for the present one.
  mutating func isAhead(_ reject: Reject, in folder: String?) -> Bool {
    let name = reject.position.file
    if last?.name != name || last?.folder != folder {
      last = (name, folder, sources[SourceName.place(of: name, in: folder)] ?? [])
    }
    var indexes = last?.sources ?? []
    if let index = reject.sourceIndex, indexes.contains(index) { indexes = [index] }
    let place = (sourceIndex, record)
    return !indexes.isEmpty && indexes.allSatisfy { ($0, reject.position.record ?? 0) > place }
  }
}
