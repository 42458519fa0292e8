#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file of rejected records, one JSON object a line: `file record line byte column code reason raw`.
///
/// Raw bytes that are not UTF-8 are shown with U+FFFD and stand whole in `raw_base64`; what is longer than 64 KiB is
/// cut, and `raw_cut` says so.
package struct RejectFile: ~Copyable {
  private let path: String
  private let descriptor: Int32
  private var text = JSONText()

  /// Makes the file anew, readable by its owner only; does not follow a symbolic link.
  /// - Throws: `cannotCreate`.
  package init(path: String) throws(UpsurgeError) {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor < 0 {
      throw UpsurgeError(
        .cannotCreate, "cannot create the rejects file \(path): \(String(cString: strerror(errno)))",
        hint: "give another path to --rejects", underlyingCode: errno)
    }
  }

  deinit { close(descriptor) }

  /// Appends one record; written out at 64 KiB and by `flush`.
  package mutating func write(_ reject: borrowing Reject) throws(UpsurgeError) {
    text.beginObject()
    text.key("file")
    text.string(reject.position.file)
    for (name, value) in [
      ("record", reject.position.record), ("line", reject.position.line),
      ("byte", reject.position.byte),
    ] {
      text.key(name)
      if let value { text.number(value) } else { text.null() }
    }
    text.key("column")
    if let column = reject.column { text.string(column) } else { text.null() }
    text.key("code")
    text.string(reject.code.rawValue)
    text.key("reason")
    text.string(reject.reason)
    text.key("raw")
    text.string(repairing: reject.raw)
    if String(validating: reject.raw, as: UTF8.self) == nil {
      text.key("raw_base64")
      text.string(Base64.encode(reject.raw))
    }
    if reject.isRawCut {
      text.key("raw_cut")
      text.bool(true)
    }
    text.endObject()
    text.newline()
    if text.bytes.count >= 64 << 10 { try flush() }
  }

  /// Writes out what is buffered.
  /// - Throws: `cannotCreate` when the disk refuses.
  package mutating func flush() throws(UpsurgeError) {
    let bytes = text.bytes
    var start = 0
    while start < bytes.count {
      let count = bytes[start...].withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      if count <= 0 {
        throw UpsurgeError(
          .cannotCreate, "cannot write the rejects file \(path): \(String(cString: strerror(errno)))",
          hint: "make room, or give another path to --rejects", underlyingCode: errno)
      }
      start += count
    }
    text.removeAll()
  }
}

/// write(2), which the method of the same name hides.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, bytes, count)
}
