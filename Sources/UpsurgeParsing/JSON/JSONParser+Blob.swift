import CScan
import UpsurgeRecords

/// BLOBs: strings of BLOB columns under `--blob`, and `{"$base64": true, "encoded": "..."}`, which sqlite-utils
/// writes for bytes, in any column.
///
/// What is decoded goes to the spill. It is never longer than its text, so the spill has room; the bytes of a file
/// may need more, and then the record is read again in a batch that has it.
extension JSONParser {
  /// The kind of a token that is the text inside such an object, next to the kernels' own kinds.
  static let base64Kind = 64

  /// The mark in `upsurge_json_key.affinity` of a column whose strings are decoded: no affinity of the kernel's, so
  /// that it leaves strings to the general reader.
  static let decodedAffinity: UInt8 = 0xFF

  /// Whether strings of the column are decoded.
  @inline(__always)
  func isDecoded(_ slot: Int) -> Bool { decodesBlobs && columns[slot].isBlob }

  /// When the object at `brace` is a base64 wrapper, makes a token of the text inside. One that is nested too deep is
  /// left to who reads any object.
  func readBase64Wrapper(
    _ brace: UnsafePointer<UInt8>, _ frame: JSONFrame, _ token: inout upsurge_json_token
  ) -> Bool {
    if frame.depth + record.openKeys.count + 2 > dialect.maximumDepth { return false }
    var p: UnsafePointer<UInt8> = upsurge_json_skip_space(brace + 1, frame.end)
    // Most objects are no such wrapper: their second byte shows it.
    guard frame.end - p > 1, p[1] == UInt8(ascii: "$") || p[1] == UInt8(ascii: "e") else { return false }
    let isFlagFirst = skip("\"$base64\"", &p, frame)
    if !isFlagFirst && !isHere("\"encoded\"", p, frame) { return false }
    var text = upsurge_json_token()
    if isFlagFirst {
      guard skip(":", &p, frame), skip("true", &p, frame), skip(",", &p, frame) else { return false }
    }
    guard skip("\"encoded\"", &p, frame), skip(":", &p, frame), p < frame.end,
      p.pointee == UInt8(ascii: "\""),
      Int(upsurge_json_read_string(p + 1, frame.end, frame.limit, &text)) == UPSURGE_JSON_OK
    else { return false }
    p = upsurge_json_skip_space(text.next, frame.end)
    if !isFlagFirst {
      guard skip(",", &p, frame), skip("\"$base64\"", &p, frame), skip(":", &p, frame),
        skip("true", &p, frame)
      else { return false }
    }
    guard p < frame.end, p.pointee == UInt8(ascii: "}") else { return false }
    token = text
    token.next = p + 1
    token.kind = numericCast(Self.base64Kind)
    return true
  }

  private func isHere(_ word: StaticString, _ p: UnsafePointer<UInt8>, _ frame: JSONFrame) -> Bool {
    frame.end - p >= word.utf8CodeUnitCount
      && UnsafeBufferPointer(start: p, count: word.utf8CodeUnitCount)
        .elementsEqual(UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
  }

  /// Steps over a word and the white space after it.
  private func skip(_ word: StaticString, _ p: inout UnsafePointer<UInt8>, _ frame: JSONFrame) -> Bool {
    guard isHere(word, p, frame) else { return false }
    p = upsurge_json_skip_space(p + word.utf8CodeUnitCount, frame.end)
    return true
  }

  /// Fills the cell of a string that stands for bytes.
  mutating func storeBlob(
    _ token: upsurge_json_token, _ encoding: BlobEncoding, _ cell: UnsafeMutablePointer<Cell>, slot: Int,
    _ frame: inout JSONFrame
  ) {
    cell.pointee = .null
    let output = frame.spill + frame.spillByteCount
    var text: UnsafePointer<UInt8> = token.start
    var count = token.end - token.start
    if token.has_escapes {
      count = upsurge_json_unescape(token.start, token.end, output)
      if count < 0 { return noteSoft(.kernel(UPSURGE_JSON_LONE_SURROGATE), at: token.start) }
      text = UnsafePointer(output)
    }
    if encoding == .file {
      let path = String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
      return storeFile(path, cell, slot: slot, at: token.start, &frame)
    }
    let byteCount = BlobText.decode(encoding, text, count: count, into: output)
    if byteCount < 0 {
      return noteSoft(.badBlob("the value is not \(encoding)"), at: token.start, column: columns[slot].name)
    }
    cell.pointee = .blob(offset: frame.spillByteCount, byteCount: byteCount)
    frame.spillByteCount += byteCount
  }

  private mutating func storeFile(
    _ path: String, _ cell: UnsafeMutablePointer<Cell>, slot: Int, at place: UnsafePointer<UInt8>,
    _ frame: inout JSONFrame
  ) {
    guard let blobs, let files = blobs.files else {
      return noteSoft(.badBlob("no files are read here"), at: place, column: columns[slot].name)
    }
    let output = frame.spill + frame.spillByteCount
    // What follows in the arena needs its own room in the spill, at most as much as its text.
    let room = frame.spillCapacity - frame.spillByteCount - (frame.limit - place)
    let outcome = files.read(path, byteLimit: blobs.byteLimit - record.blobByteCount) { size in
      size <= room ? UnsafeMutableRawBufferPointer(start: output, count: size) : nil
    }
    switch outcome {
    case .bytes(let byteCount):
      cell.pointee = .blob(offset: frame.spillByteCount, byteCount: byteCount)
      frame.spillByteCount += byteCount
      record.blobByteCount += byteCount
    case .noRoom(let byteCount):
      record.missingSpillByteCount += byteCount
      record.blobByteCount += byteCount
    case .refused(let reason):
      noteSoft(
        .badBlob("the file \(path.escapedForTerminal) \(reason)"), at: place, column: columns[slot].name)
    }
  }

  /// Closes the batch before a record whose files do not fit, or asks for room where it is the first.
  mutating func askForSpill(_ start: UnsafePointer<UInt8>, _ frame: JSONFrame, _ batch: inout Batch) {
    if batch.recordCount > 0 {
      batch.isClosed = true
    } else {
      batch.growth.wantedSpillByteCount =
        frame.spillByteCount + record.missingSpillByteCount + (frame.limit - start)
      batch.growth.wantedRecordByteCount = frame.spillByteCount + record.missingSpillByteCount
    }
  }
}
