import CScan
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The keys met so far, by their bytes as they stand in the input and by the object they stand in.
///
/// Each entry remembers which key followed it last time, so that records of the same shape find their keys
/// with one comparison each and no hash. Key bytes keep their closing quote: comparing it along with them
/// finds the key's end as well.
///
/// Memory is bounded by `trim()`, which forgets all keys when there are too many; they are found again by name. Within a
/// record, `isFull` says that keys which mean nothing are to share the entry `scratch`.
final class JSONKeyTable: @unchecked Sendable {
  // Sendable because it belongs to one parser, which is on one thread at a time.

  typealias Entry = upsurge_json_key

  /// No column yet.
  static let unresolved: Int32 = -1
  /// The options leave the key out.
  static let skipped = Int32(UPSURGE_SLOT_SKIPPED)
  /// The key is no Unicode text.
  static let loneSurrogate: Int32 = -3
  /// The key holds U+0000, which no column name can.
  static let unnameable: Int32 = -4

  /// The entry of keys that are left out where the table is full; it is never linked to others.
  static let scratch: Int32 = 1

  /// Entry 0 stands for the record itself, entry 1 for keys without an entry of their own.
  private(set) var entries: UnsafeMutablePointer<Entry>
  private(set) var count = 0
  private var capacity = 64
  /// Open addressing; a power of two, at least twice `capacity`.
  private var buckets: [Int32]
  private let seed = UInt64.random(in: 0...UInt64.max)
  /// Bytes between the names of a path.
  private let separatorByteCount: Int
  /// Bytes of all keys.
  private var byteCount = 0
  private static let trimCount = 16 << 10
  private static let trimByteCount = 1 << 20

  init(separatorByteCount: Int = 0) {
    self.separatorByteCount = separatorByteCount
    entries = .allocate(capacity: capacity)
    buckets = Array(repeating: -1, count: capacity * 2)
    appendRoot()
  }

  deinit {
    removeAll()
    entries.deallocate()
  }

  /// Forgets all keys when there are too many; only between records.
  @inline(__always)
  func trim() { if count > Self.trimCount || byteCount > Self.trimByteCount { startAnew() } }

  @inline(never)
  private func startAnew() {
    removeAll()
    buckets = Array(repeating: -1, count: capacity * 2)
    appendRoot()
  }

  /// Whether there are so many keys, or such long ones, that only those that are needed should come to them.
  var isFull: Bool { count >= 2 * Self.trimCount || byteCount >= 2 * Self.trimByteCount }

  /// The entry of a key that stands in the object of `parent`; nil when it has none.
  /// `bytes` are the key's bytes and its closing quote.
  func known(_ bytes: UnsafeBufferPointer<UInt8>, in parent: Int32) -> Int32? {
    var bucket = Int(truncatingIfNeeded: hash(bytes, parent)) & (buckets.count - 1)
    while buckets[bucket] >= 0 {
      let found = buckets[bucket]
      let entry = entries + Int(found)
      if entry.pointee.parent == parent && entry.pointee.byte_count == bytes.count
        && bytes.baseAddress.map({ memcmp($0, entry.pointee.bytes, bytes.count) }) == 0
      {
        return found
      }
      bucket = (bucket + 1) & (buckets.count - 1)
    }
    return nil
  }

  /// Makes the entry of a key that has none.
  func make(_ bytes: UnsafeBufferPointer<UInt8>, in parent: Int32) -> Int32 {
    if count == capacity { grow() }
    let index = Int32(count)
    append(bytes, parent: parent)
    insert(index)
    return index
  }

  /// The names of a key and the objects it stands in, outermost first; nil when one is no text for a name.
  func path(of index: Int32) -> [String] {
    var names: [String] = []
    var current = index
    while current > 0 {
      names.append(name(of: current))
      current = entries[Int(current)].parent
    }
    return names.reversed()
  }

  /// The key as text, its escapes resolved.
  private func name(of index: Int32) -> String {
    let entry = entries[Int(index)]
    return Self.name(UnsafeBufferPointer(start: UnsafePointer(entry.bytes), count: entry.byte_count))
  }

  /// A key as text, its escapes resolved; it need not be in the table. `bytes` end with its closing quote.
  static func name(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
    guard let start = bytes.baseAddress else { return "" }
    let text = [UInt8](unsafeUninitializedCapacity: bytes.count - 1) { buffer, count in
      guard let to = buffer.baseAddress else { return }
      count = max(0, upsurge_json_unescape(start, start + bytes.count - 1, to))
    }
    return String(decoding: text, as: UTF8.self)
  }

  private func appendRoot() {
    append(UnsafeBufferPointer(start: nil, count: 0), parent: -1)
    append(UnsafeBufferPointer(start: nil, count: 0), parent: -1)
    entries[Int(Self.scratch)].slot = Self.skipped
  }

  private func append(_ bytes: UnsafeBufferPointer<UInt8>, parent: Int32) {
    let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: max(bytes.count, 1))
    var head: UInt64 = 0
    var slot = Self.unresolved
    var pathByteCount = 0
    if let start = bytes.baseAddress {
      copy.update(from: start, count: bytes.count)
      memcpy(&head, start, min(bytes.count, 8))
      (slot, pathByteCount) = Self.initialSlot(start, count: bytes.count - 1)
    }
    if parent > 0 { pathByteCount += Int(entries[Int(parent)].path_byte_count) + separatorByteCount }
    (entries + count).initialize(
      to: Entry(
        bytes: copy, byte_count: bytes.count, head: head, last_reading: 0, next: -1, first_child: -1,
        parent: parent, slot: slot, first_touched: -1, next_touched: -1,
        path_byte_count: UInt32(clamping: pathByteCount), affinity: Affinity.none.rawValue))
    count += 1
    byteCount += bytes.count
  }

  /// The mark of a key that cannot be a name, or `unresolved`; and the bytes of its name.
  static func initialSlot(_ start: UnsafePointer<UInt8>, count: Int) -> (slot: Int32, nameByteCount: Int) {
    if count == 0 { return (unresolved, 0) }
    let text = UnsafeMutablePointer<UInt8>.allocate(capacity: count)
    defer { text.deallocate() }
    let unescaped = upsurge_json_unescape(start, start + count, text)
    if unescaped < 0 { return (loneSurrogate, count) }
    return (memchr(text, 0, unescaped) != nil ? unnameable : unresolved, unescaped)
  }

  private func removeAll() {
    for index in 0..<count { entries[index].bytes.deallocate() }
    count = 0
    byteCount = 0
  }

  private func grow() {
    let old = entries
    entries = .allocate(capacity: capacity * 2)
    entries.moveInitialize(from: old, count: count)
    old.deallocate()
    capacity *= 2
    buckets = Array(repeating: -1, count: capacity * 2)
    for index in Int(Self.scratch) + 1..<count { insert(Int32(index)) }
  }

  private func insert(_ index: Int32) {
    let entry = entries[Int(index)]
    let bytes = UnsafeBufferPointer(start: UnsafePointer(entry.bytes), count: entry.byte_count)
    var bucket = Int(truncatingIfNeeded: hash(bytes, entry.parent)) & (buckets.count - 1)
    while buckets[bucket] >= 0 { bucket = (bucket + 1) & (buckets.count - 1) }
    buckets[bucket] = index
  }

  private func hash(_ bytes: UnsafeBufferPointer<UInt8>, _ parent: Int32) -> UInt64 {
    var hash = seed ^ UInt64(UInt32(bitPattern: parent))
    for byte in bytes {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    return hash ^ hash >> 32
  }
}
