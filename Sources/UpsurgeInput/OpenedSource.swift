import UpsurgeRecords

/// An input as the parser wants it: opened, decompressed, in UTF-8 and without a byte order mark.
///
///     file bytes -> zstd | gzip | xz … | as they are -> (UTF-16, Windows-1252, what iconv knows -> UTF-8) -> read(into:)
///
/// The first bytes are read when it is opened, so that everything about the input is known before the first
/// row is written; `read(into:)` delivers them again. Belongs to one thread; only `counter` may be read by others.
package final class OpenedSource: ByteSource {
  /// How a source is opened.
  package struct Options: Sendable {
    package var compression = Compression.auto
    package var encoding = TextEncoding.auto
    /// Whether an input that is not UTF-8 may be taken for Windows-1252; false for JSON.
    package var allowsSingleByteEncodings = true
    /// Decompressed bytes that are looked at before anything else.
    package var sampleByteCount = 1 << 20
    /// The largest window of a zstd frame.
    package var windowByteLimit = 128 << 20
    /// How many times as large as what was read a compressed source may become; nil is no bound. See `RatioLimit`.
    package var maximumRatio: Double?
    /// Whether what does not end with a line end counts as cut.
    package var needsLineEnd = false
    /// What the last line says, which is no record; nil where there is no such line.
    package var trailer: TrailerPattern?
    /// What a URL is asked with.
    package var question = HTTPQuestion()

    package init() {}
  }

  /// The name as the user gave it, without the credentials of a URL; `-` for standard input.
  package let name: String
  /// What kind of source it is.
  package let kind: Source.Kind
  /// The compression that was found; never `.auto`.
  package private(set) var compression: Compression
  /// The encoding that was found; neither `.auto` nor `.utf16`.
  package private(set) var encoding = TextEncoding.utf8
  /// Why the encoding that was found may well be another one; whoever reads a table has to be asked.
  package private(set) var encodingDoubt: EncodingDoubt?
  /// What is to be said about the encoding that was chosen, or that a server has named.
  package private(set) var encodingRemark: Wording?
  /// The first bytes, in UTF-8 and without a mark; empty again once `read(into:)` has delivered them.
  package private(set) var sample: [UInt8] = []
  /// Whether the sample is all there is.
  package private(set) var isSampleWhole: Bool
  /// Bytes of the mark that was dropped from UTF-8 text (3), so that positions count them; else 0.
  package private(set) var startOffset: UInt64 = 0
  /// Offset in the decoded stream of the byte that `read(into:)` delivers next.
  package private(set) var decodedByteCount: UInt64 = 0

  let options: Options
  private var ratioLimit: RatioLimit?
  let file: FileSource
  /// The first decompressed bytes, in their own encoding; kept until the first read.
  private var rawSample: [UInt8]
  /// What follows the raw sample.
  private var decompressed: any ByteSource
  /// Where frames or members begin; nil without compression.
  private(set) var anchors: AnchorTrail?
  /// What follows the sample: the same, or a transcoder over it.
  private var rest: any ByteSource
  /// Bytes of the sample that were delivered.
  private var sampleOffset = 0
  private var hasBegunReading = false
  /// Whether the last line of a text must end like the others; set before the first read.
  package var needsLineEnd: Bool
  private var lastByte: UInt8?
  private var trailing: TrailerSource?
  /// The trailer of a text that has it within its sample.
  private var sampleTrailer: TrailerPattern.Match?

  /// How many bytes there will be before decompression, where that is known: also of a feed that has said so.
  package var expectedByteCount: UInt64? { file.expectedByteCount }
  /// Whether a cut would be noticed where the bytes are sent: false for an answer that is not compressed, of a server that
  /// says neither its length nor where it ends.
  package var provesEnd: Bool { file.provesEnd || compression != .none }
  /// Size of the file in bytes; nil for pipes.
  package var fileByteCount: UInt64? { file.byteCount }
  /// Whether `rewind()` works.
  package var isSeekable: Bool { file.isSeekable }
  /// Seconds spent in reading the file as it lies there, and in waiting for a pipe.
  package var fileReadSeconds: Double { file.readSeconds }
  /// Whether the file's bytes are not yet what the parser reads: compressed, or not UTF-8.
  package var isDecoded: Bool { compression != .none || encoding != .utf8 }
  /// What a server has answered; nil for other sources.
  package var response: HTTPResponse? { file.response }
  /// Whether reading on may wait for who sends it.
  package var mayWait: Bool { !isSampleWhole && file.mayWait }
  /// Ends reading, when it is asked to.
  package var cancellation: ReadCancellation? { file.cancellation }
  /// Compressed bytes read so far.
  package var counter: ByteCounter { file.counter }

  /// Opens a source and reads its sample; an input that is cut or corrupt within the sample fails here.
  /// - Parameters:
  ///   - name: a path; `-` or `/dev/stdin` for standard input; a URL, or `exec:COMMAND`.
  ///   - counter: may be shared by the sources of a run.
  ///   - cancellation: ends waits for a pipe, with the code `interrupted`.
  /// - Throws: `unreadableInput`, `badInput`, `interrupted`.
  package convenience init(
    name: String, options: Options = Options(), counter: ByteCounter = ByteCounter(),
    cancellation: ReadCancellation? = nil
  ) throws(UpsurgeError) {
    let file = try FileSource(
      name: name, asking: options.question, counter: counter, cancellation: cancellation)
    try self.init(file: file, options: options)
  }

  /// Opens a source over a file that is open already.
  package init(file: FileSource, options: Options = Options()) throws(UpsurgeError) {
    precondition(options.sampleByteCount >= Compression.magicByteCount, "a sample must hold the magic bytes")
    let beginning = try Beginning(of: file, options: options)
    name = file.name
    kind = Source(file.name).kind
    self.file = file
    self.options = options
    needsLineEnd = options.needsLineEnd
    ratioLimit = options.maximumRatio.map { RatioLimit(ratio: $0) }
    compression = beginning.compression
    isSampleWhole = beginning.isWhole
    rawSample = beginning.rawSample
    decompressed = beginning.decompressed
    anchors = beginning.anchors
    rest = beginning.decompressed
    try decode(as: options.encoding, allowsSingleByteEncodings: options.allowsSingleByteEncodings)
  }

  /// Reads what is left of a source that may be slow; see `FileSource.readAhead`.
  /// - Returns: how many bytes are in the file.
  package func readAhead(
    into spool: SpoolFile, memoryByteCount: Int, progress: () -> Void
  ) throws(UpsurgeError) -> UInt64 {
    if !mayWait { return 0 }
    return try file.readAhead(into: spool, memoryByteCount: memoryByteCount, progress: progress)
  }

  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int {
    precondition(buffer.count > 0, "nothing can be read into an empty buffer")
    if !hasBegunReading {
      hasBegunReading = true
      rawSample = []
    }
    var count = 0
    if sampleOffset < sample.count {
      count = min(sample.count - sampleOffset, buffer.count)
      sample.withUnsafeBytes {
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[sampleOffset..<sampleOffset + count]))
      }
      sampleOffset += count
      if sampleOffset == sample.count {
        sample = []
        sampleOffset = 0
      }
    } else if !isSampleWhole {
      // A file that expands may keep a reader for long without being read itself.
      try file.checkCancellation()
      count = try rest.read(into: buffer)
    }
    decodedByteCount += UInt64(count)
    try checkLineEnd(buffer, count)
    if compression != .none {
      try ratioLimit?.check(
        name: name, decodedByteCount: decodedByteCount, readByteCount: file.countedByteCount)
    }
    return count
  }

  /// - Throws: `badInput` at the end of a text whose last line does not end.
  private func checkLineEnd(_ buffer: UnsafeMutableRawBufferPointer, _ count: Int) throws(UpsurgeError) {
    if count > 0 {
      lastByte = buffer[count - 1]
    } else if needsLineEnd && endsInLine {
      throw .endsInLine(name, offset: decodedByteCount)
    }
  }

  /// Whether what was read last is no line end.
  package var endsInLine: Bool {
    lastByte.map { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") } ?? false
  }

  /// - Parameter recordCount: of the records that were read to the end of the text; nil where that is not known.
  /// - Throws: `badInput` where the trailer says another number.
  package func checkTrailer(recordCount: UInt64?) throws(UpsurgeError) {
    guard let expected = (sampleTrailer ?? trailing?.trailer)?.count, expected != recordCount else { return }
    throw UpsurgeError(
      .badInput,
      "\(SourceName.shown(name)) is not whole: it has "
        + (recordCount.map { Words.count($0, "record") } ?? "an unknown number of records")
        + ", and its last line says \(expected)",
      position: Position(file: name, byte: decodedByteCount),
      hint: "deliver it again; {count} in trailer stands for records, without the header and the last line")
  }

  /// Decides the encoding (again): for a caller that looks at the sample first, to see what format it holds.
  /// Only before the first read.
  /// - Throws: `badInput`.
  package func decode(
    as given: TextEncoding, allowsSingleByteEncodings: Bool
  ) throws(UpsurgeError) {
    precondition(!hasBegunReading, "the encoding is decided before the first read")
    let charset = given == .auto ? response?.charset : nil
    let declared = charset.flatMap { EncodingDetector.declared(by: $0) }
    let finding = try rawSample.withRawBytes { bytes throws(UpsurgeError) in
      try EncodingDetector.detect(
        given, declared: declared, sample: bytes, isWhole: isSampleWhole,
        allowsSingleByte: allowsSingleByteEncodings, name: name)
    }
    encoding = finding.encoding
    encodingDoubt = finding.doubt
    // JSON is what it is, whatever the server says.
    encodingRemark =
      allowsSingleByteEncodings ? charset.flatMap { finding.remark(on: $0, declared: declared) } : nil
    if let doubt = finding.doubt, !doubt.isRefusal { encodingRemark = doubt.remark(name) }
    startOffset = encoding == .utf8 ? UInt64(finding.markByteCount) : 0
    decodedByteCount = startOffset
    let text = rawSample.dropFirst(finding.markByteCount)
    guard var transcoder = Transcoder(encoding, inputOffset: UInt64(finding.markByteCount)) else {
      sample = Array(text)
      rest = decompressed
      return try holdTrailer()
    }
    sample = try transcoder.all(of: text, isWhole: isSampleWhole, name: name)
    rest = TranscodingSource(
      decompressed, name: name, transcoder: transcoder, decodedOffset: UInt64(sample.count))
    try holdTrailer()
  }

  /// Takes the trailer off the sample, or what of it may be there.
  private func holdTrailer() throws(UpsurgeError) {
    // An answer that nothing has changed has neither records nor a trailer.
    guard let pattern = options.trailer, response?.isNotModified != true else { return }
    if isSampleWhole {
      let end = try sample.withRawBytes { bytes throws(UpsurgeError) in
        try pattern.end(of: bytes, isWhole: true, name: name, offset: startOffset)
      }
      sample.removeLast(sample.count - end.bodyByteCount)
      sampleTrailer = end.trailer
    } else {
      let held = Array(sample.suffix(TrailerSource.lineByteLimit))
      sample.removeLast(held.count)
      rest = withoutTrailer(ReplaySource(held, then: rest), at: startOffset + UInt64(sample.count))
    }
  }

  /// A text that goes on at a byte of the decoded stream, up to its trailer where it has one.
  private func withoutTrailer(_ source: any ByteSource, at byte: UInt64) -> any ByteSource {
    guard let pattern = options.trailer else { return source }
    let trailing = TrailerSource(source, pattern: pattern, name: name, offset: byte)
    (self.trailing, sampleTrailer) = (trailing, nil)
    return trailing
  }

  /// Starts again at the first byte, with the encoding that was decided.
  /// - Throws: `unreadableInput` when the source is a pipe; else as `init`.
  package func rewind() throws(UpsurgeError) {
    try file.rewind()
    try beginAgain()
  }

  /// Reads the sample again from a file that stands at its first byte, with the encoding that was decided.
  func beginAgain() throws(UpsurgeError) {
    let beginning = try Beginning(of: file, options: options)
    compression = beginning.compression
    isSampleWhole = beginning.isWhole
    rawSample = beginning.rawSample
    decompressed = beginning.decompressed
    anchors = beginning.anchors
    sampleOffset = 0
    hasBegunReading = false
    lastByte = nil
    ratioLimit?.begin(decodedByteCount: 0, readByteCount: 0)
    try decode(as: encoding, allowsSingleByteEncodings: true)
  }

  /// Makes UTF-8 from another place the next bytes that are read; the sample is done.
  /// - Parameter byte: the offset in the decoded stream of the next byte that the caller will ask for.
  func goOn(with source: any ByteSource, anchors: AnchorTrail?, at byte: UInt64) {
    hasBegunReading = true
    rawSample = []
    sample = []
    sampleOffset = 0
    isSampleWhole = false
    decompressed = source
    rest = withoutTrailer(source, at: byte)
    self.anchors = anchors
    decodedByteCount = byte
    ratioLimit?.begin(decodedByteCount: byte, readByteCount: file.countedByteCount)
  }
}

/// The first bytes of a file, decompressed, and what follows them.
private struct Beginning {
  var compression: Compression
  var rawSample: [UInt8]
  var isWhole: Bool
  var decompressed: any ByteSource
  var anchors: AnchorTrail?

  init(of file: FileSource, options: OpenedSource.Options) throws(UpsurgeError) {
    let prefix = try file.readPrefix(Compression.magicByteCount).bytes
    compression = try options.compression.chosen(for: prefix, name: file.name)
    let replayed = ReplaySource(prefix, then: file)
    let decoder = try Decoder(
      compression, over: replayed, name: file.name, windowByteLimit: options.windowByteLimit)
    (decompressed, anchors) = (decoder.content, decoder.anchors)
    (rawSample, isWhole) = try decompressed.readPrefix(options.sampleByteCount)
    if compression == .none {
      // The prefix is part of the sample now.
      decompressed = file
    } else if let format = ForeignFormat.compressedTwice(rawSample) ?? ForeignFormat.detect(rawSample) {
      throw format.error(file.name, inside: compression)
    }
  }
}

extension Transcoder {
  /// The first part of a text, as long as one call has it.
  fileprivate mutating func all(
    of input: ArraySlice<UInt8>, isWhole: Bool, name: String
  ) throws(UpsurgeError) -> [UInt8] {
    let memory = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(input.count, Transcoder.leastOutputByteCount), alignment: 16)
    defer { memory.deallocate() }
    var text: [UInt8] = []
    var rest = input
    while !rest.isEmpty {
      let step = rest.withUnsafeBytes { transcode($0, into: memory) }
      text += memory[..<step.produced]
      rest = rest.dropFirst(step.consumed)
      if let fault = step.fault { throw fault.error(name, decodedOffset: UInt64(text.count)) }
    }
    guard isWhole else { return text }
    if let fault = faultAtEnd() { throw fault.error(name, decodedOffset: UInt64(text.count)) }
    return text + memory[..<finish(into: memory)]
  }
}

extension [UInt8] {
  /// `withUnsafeBytes` with typed throws.
  fileprivate func withRawBytes<Result>(
    _ body: (UnsafeRawBufferPointer) throws(UpsurgeError) -> Result
  ) throws(UpsurgeError) -> Result {
    try withUnsafeBufferPointer { bytes throws(UpsurgeError) in try body(UnsafeRawBufferPointer(bytes)) }
  }
}
