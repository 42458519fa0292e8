import UpsurgeRecords

/// Turns the text of another source into UTF-8.
final class TranscodingSource: ByteSource {
  private let name: String
  private let input: InputWindow
  private var transcoder: Transcoder
  /// Bytes of UTF-8 delivered, for positions.
  private var decodedOffset: UInt64
  /// The rest of a character that the reader's buffer was too small for.
  private var leftover: [UInt8] = []
  /// What went wrong after bytes that were still good, and is thrown by the next read.
  private var failure: UpsurgeError?
  private var isFinished = false

  /// - Parameters:
  ///   - transcoder: may have seen an earlier part of the text.
  ///   - decodedOffset: bytes that the earlier part became.
  init(_ source: any ByteSource, name: String, transcoder: Transcoder, decodedOffset: UInt64 = 0) {
    self.name = name
    self.transcoder = transcoder
    self.decodedOffset = decodedOffset
    input = InputWindow(source, byteCount: 64 << 10)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int {
    if !leftover.isEmpty { return deliverLeftover(to: buffer) }
    if buffer.count >= Transcoder.leastOutputByteCount {
      let count = try convert(into: buffer)
      decodedOffset += UInt64(count)
      return count
    }
    let memory = UnsafeMutableRawBufferPointer.allocate(
      byteCount: Transcoder.leastOutputByteCount, alignment: 8)
    defer { memory.deallocate() }
    let count = try convert(into: memory)
    leftover = Array(memory[..<count])
    return deliverLeftover(to: buffer)
  }

  /// - Returns: how many bytes were written; 0 at the end of a text that is whole.
  private func convert(into output: UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int {
    if let failure { throw failure }
    while true {
      let step = transcoder.transcode(input.unread, into: output)
      input.consume(step.consumed)
      if let fault = step.fault {
        let error = fault.error(name, decodedOffset: decodedOffset + UInt64(step.produced))
        failure = error
        if step.produced == 0 { throw error }
      }
      if step.produced > 0 { return step.produced }
      if !(try input.fill()) {
        if let fault = transcoder.faultAtEnd() { throw fault.error(name, decodedOffset: decodedOffset) }
        if isFinished { return 0 }
        isFinished = true
        return transcoder.finish(into: output)
      }
    }
  }

  private func deliverLeftover(to buffer: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(leftover.count, buffer.count)
    leftover.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    leftover.removeFirst(count)
    decodedOffset += UInt64(count)
    return count
  }
}

extension Transcoder.Fault {
  /// The fault as it is shown.
  /// - Parameter decodedOffset: bytes of UTF-8 that stand before the fault.
  func error(_ name: String, decodedOffset: UInt64) -> UpsurgeError {
    let what: String
    switch self {
    case .loneSurrogate(let unit, let offset):
      what =
        "holds half a surrogate pair (\(String(unit, radix: 16, uppercase: true))) at byte \(offset) of the "
        + "UTF-16 text, which stands for no character"
    case .unfinished(let offset):
      what = "ends inside a character, at byte \(offset) of the UTF-16 text"
    case .noConverter(let encoding):
      return UpsurgeError(
        .unreadableInput, "\(SourceName.shown(name)) is \(encoding), for which the system's iconv has no room now",
        position: Position(file: name), hint: "raise the limits of open files and memory: ulimit -n 4096")
    }
    return UpsurgeError(
      .badInput, "\(SourceName.shown(name)) \(what)", position: Position(file: name, byte: decodedOffset),
      hint: "correct the text there, or name its true encoding with \(.encoding)")
  }
}
