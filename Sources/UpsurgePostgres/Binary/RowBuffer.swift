/// Bytes of rows on their way to a server, or texts of rows that came from one. It grows as it must, and is emptied for the next
/// rows without giving its memory back.
package struct RowBuffer: ~Copyable, @unchecked Sendable {
  // Sendable because it owns its memory and is only ever moved from thread to thread, never shared.

  private(set) var base: UnsafeMutablePointer<UInt8>
  private var capacity: Int
  /// Bytes that are in it. May be set to less, which takes a row back that cannot be sent.
  package var count = 0

  package init(capacity: Int = 256 << 10) {
    self.capacity = max(capacity, 64)
    base = .allocate(capacity: self.capacity)
  }

  deinit { base.deallocate() }

  /// All bytes; valid until more are added.
  package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// Makes room for so many bytes more.
  @inline(__always)
  mutating func reserve(_ byteCount: Int) {
    if count + byteCount > capacity { grow(byteCount) }
  }

  @inline(never)
  private mutating func grow(_ byteCount: Int) {
    let larger = max(capacity * 2, count + byteCount)
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
    memory.update(from: base, count: count)
    base.deallocate()
    (base, capacity) = (memory, larger)
  }

  /// A number with its most significant byte first, as the protocol has all of them. Room must be there.
  @inline(__always)
  mutating func put<Number: FixedWidthInteger>(_ number: Number) {
    UnsafeMutableRawPointer(base + count).storeBytes(of: number.bigEndian, as: Number.self)
    count += MemoryLayout<Number>.size
  }

  @inline(__always)
  mutating func append<Number: FixedWidthInteger>(_ number: Number) {
    reserve(MemoryLayout<Number>.size)
    put(number)
  }

  @inline(__always)
  mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
    reserve(bytes.count)
    if let start = bytes.baseAddress { (base + count).update(from: start, count: bytes.count) }
    count += bytes.count
  }

  mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { append($0) }
  }

  mutating func append(repeating byte: UInt8, count: Int) {
    reserve(count)
    (base + self.count).update(repeating: byte, count: count)
    self.count += count
  }

  /// Puts a number where one was left out: the length of a field that is known after it.
  @inline(__always)
  mutating func patch(_ number: Int32, at place: Int) {
    UnsafeMutableRawPointer(base + place).storeBytes(of: number.bigEndian, as: Int32.self)
  }
}

/// The frame of COPY's binary format: a signature and no flags, rows, and -1 for the number of fields.
package enum CopyFrame {
  package static let header: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00, 0, 0, 0, 0, 0, 0, 0, 0]
  package static let trailer: [UInt8] = [0xFF, 0xFF]
}

extension RowBuffer {
  package mutating func appendCopyHeader() { CopyFrame.header.withUnsafeBufferPointer { append($0) } }
  package mutating func appendCopyTrailer() { CopyFrame.trailer.withUnsafeBufferPointer { append($0) } }
}
