import UpsurgeRecords

/// Text of BLOB columns, which is decoded to the spill.
extension FieldConverter {
  mutating func decode(
    _ cell: Cell, _ start: UnsafePointer<UInt8>, _ blobs: BlobDecoding, _ slot: Int,
    _ output: UnsafeMutablePointer<Cell>, _ text: inout Text
  ) -> Outcome {
    let count = Int(cell.byteCount)
    let to = text.spill + text.spillByteCount
    var outcome: BlobFileOutcome
    if blobs.encoding == .file {
      outcome = readFile(
        String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self), blobs, text)
    } else if count > text.room {
      outcome = .noRoom(count)
    } else {
      let byteCount = BlobText.decode(blobs.encoding, start, count: count, into: to)
      outcome = byteCount < 0 ? .refused("the value is not \(blobs.encoding)") : .bytes(byteCount)
    }
    switch outcome {
    case .bytes(let byteCount):
      output.pointee = .blob(offset: text.spillByteCount, byteCount: byteCount)
      text.spillByteCount += byteCount
      if blobs.encoding == .file { fileByteCount += byteCount }
      return .stored
    case .noRoom(let byteCount): return .noRoom(byteCount)
    case .refused(let reason):
      let name = columns[slot].name
      return .refused(
        RecordProblem(
          code: .badBlob, column: name, reason: "column \(name): \(reason)", hint: JSONFault.blobHint))
    }
  }

  private func readFile(_ path: String, _ blobs: BlobDecoding, _ text: Text) -> BlobFileOutcome {
    guard let files = blobs.files else { return .refused("no files are read here") }
    let (room, to) = (text.room, text.spill + text.spillByteCount)
    let outcome = files.read(path, byteLimit: blobs.byteLimit - fileByteCount) { size in
      size <= room ? UnsafeMutableRawBufferPointer(start: to, count: size) : nil
    }
    if case .refused(let reason) = outcome {
      return .refused("the file \(path.escapedForTerminal) \(reason)")
    }
    return outcome
  }
}
