import UpsurgeRecords

/// Text of BLOB columns under `--blob`.
extension CSVParser {
  /// Decodes the record's text for BLOB columns into the spill.
  /// - Returns: nil when all of it is decoded; else what became of the record instead.
  mutating func decodeBlobs(_ batch: inout Batch, _ scanner: inout RecordScanner) -> Settlement? {
    guard let blobs else { return nil }
    var fileByteCount = 0
    var missingByteCount = 0
    for slot in blobSlots where scanner.cells[slot].kind == .text {
      let cell = scanner.cells[slot]
      let start = (cell.isInSpill ? UnsafePointer(scanner.spill) : scanner.bytes) + Int(cell.payload)
      let count = Int(cell.byteCount)
      let outcome: BlobFileOutcome
      if blobs.encoding == .file {
        let path = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
        outcome = readFile(path, blobs, byteLimit: blobs.byteLimit - fileByteCount, batch, scanner)
      } else {
        outcome = decode(start, count, blobs.encoding, batch, scanner)
      }
      switch outcome {
      case .bytes(let byteCount):
        scanner.cells[slot] = .blob(offset: scanner.spillByteCount, byteCount: byteCount)
        scanner.spillByteCount += byteCount
        if blobs.encoding == .file { fileByteCount += byteCount }
      case .noRoom(let byteCount):
        missingByteCount += byteCount
        fileByteCount += byteCount
      case .refused(let reason):
        return reject(reason, inSlot: slot, &batch, &scanner)
      }
    }
    if missingByteCount == 0 { return nil }
    askForSpill(scanner.spillByteCount + missingByteCount, &batch, scanner)
    return .incomplete
  }

  private func decode(
    _ start: UnsafePointer<UInt8>, _ count: Int, _ encoding: BlobEncoding, _ batch: borrowing Batch,
    _ scanner: RecordScanner
  ) -> BlobFileOutcome {
    // Text that was unescaped has taken its room already.
    if count > room(in: batch, scanner) { return .noRoom(count) }
    let byteCount = BlobText.decode(
      encoding, start, count: count, into: scanner.spill + scanner.spillByteCount)
    return byteCount < 0 ? .refused("the value is not \(encoding)") : .bytes(byteCount)
  }

  private func readFile(
    _ path: String, _ blobs: BlobDecoding, byteLimit: Int, _ batch: borrowing Batch, _ scanner: RecordScanner
  ) -> BlobFileOutcome {
    guard let files = blobs.files else { return .refused("no files are read here") }
    let room = room(in: batch, scanner)
    let output = scanner.spill + scanner.spillByteCount
    let outcome = files.read(path, byteLimit: byteLimit) { size in
      size <= room ? UnsafeMutableRawBufferPointer(start: output, count: size) : nil
    }
    if case .refused(let reason) = outcome {
      return .refused("the file \(path.escapedForTerminal) \(reason)")
    }
    return outcome
  }

  /// What the later records leave of the spill.
  private func room(in batch: borrowing Batch, _ scanner: RecordScanner) -> Int {
    batch.spillCapacity - scanner.spillByteCount - (scanner.end - scanner.record.nextStart)
  }

  private mutating func reject(
    _ reason: Wording, inSlot slot: Int, _ batch: inout Batch, _ scanner: inout RecordScanner
  ) -> Settlement {
    let problem = RecordProblem(
      code: .badBlob, column: columns[slot].name, reason: "column \(columns[slot].name): \(reason)",
      hint: JSONFault.blobHint)
    reject(problem, &batch, scanner)
    scanner.spillByteCount = batch.spillByteCount
    return .settled
  }
}
