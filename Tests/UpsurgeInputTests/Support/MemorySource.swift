import Testing
import UpsurgeInput
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Bytes in memory that come in pieces of at most `pieceByteCount`, and then perhaps an error.
final class MemorySource: ByteSource {
  private let bytes: [UInt8]
  private let pieceByteCount: Int
  private var position = 0
  /// Thrown instead of the end.
  private let failure: UpsurgeError?

  init(_ bytes: [UInt8], pieces pieceByteCount: Int = 1 << 16, failure: UpsurgeError? = nil) {
    self.bytes = bytes
    self.pieceByteCount = pieceByteCount
    self.failure = failure
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int {
    let count = min(buffer.count, pieceByteCount, bytes.count - position)
    if count == 0, let failure { throw failure }
    bytes.withUnsafeBytes { buffer.copyBytes(from: $0[position..<position + count]) }
    position += count
    return count
  }
}

/// What a source delivered before its end or its error.
struct Delivery {
  var bytes: [UInt8] = []
  var error: UpsurgeError?
}

/// Reads a source to its end with a buffer of a given size, and checks that nothing is written beside it.
func drain(_ source: any ByteSource, buffer bufferByteCount: Int = 1 << 16) -> Delivery {
  let fence = 16
  let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferByteCount + fence, alignment: 16)
  defer { memory.deallocate() }
  memory.initializeMemory(as: UInt8.self, repeating: 0xAA)
  var delivery = Delivery()
  do throws(UpsurgeError) {
    while true {
      let count = try source.read(into: UnsafeMutableRawBufferPointer(rebasing: memory[..<bufferByteCount]))
      precondition(memory[bufferByteCount...].allSatisfy { $0 == 0xAA }, "written behind the buffer")
      if count == 0 { return delivery }
      delivery.bytes += memory[..<count]
    }
  } catch {
    delivery.error = error
    return delivery
  }
}

/// Compares without printing what may be megabytes: a failure names the first byte that differs.
func expectSame(
  _ found: some Collection<UInt8>, _ expected: some Collection<UInt8>, _ what: @autoclosure () -> String = "",
  sourceLocation: SourceLocation = #_sourceLocation
) {
  let (found, expected) = (Array(found), Array(expected))
  if found.count == expected.count && memcmp(found, expected, found.count) == 0 { return }
  let common = zip(found, expected).prefix { $0 == $1 }.count
  Issue.record(
    "\(what()) \(found.count) bytes instead of \(expected.count), different from byte \(common) on",
    sourceLocation: sourceLocation)
}
