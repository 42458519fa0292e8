#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Text in another encoding, by the C library.
package enum Iconv {
  /// - Returns: nil where the encoding does not have all characters, or is not known here.
  package static func encode(_ text: String, as encoding: String) -> [UInt8]? {
    convert(Array(text.utf8), from: "UTF-8", to: encoding)
  }

  /// - Returns: nil where the bytes are no text, or the encoding is not known here.
  package static func decode(_ bytes: [UInt8], from encoding: String) -> [UInt8]? {
    convert(bytes, from: encoding, to: "UTF-8")
  }

  private static func convert(_ bytes: [UInt8], from: String, to: String) -> [UInt8]? {
    guard let converter = iconv_open(to, from), converter != iconv_t(bitPattern: -1) else { return nil }
    defer { iconv_close(converter) }
    var input = bytes.map { CChar(bitPattern: $0) }
    var output = [CChar](repeating: 0, count: bytes.count * 8 + 64)
    let room = output.count
    let left: Int? = input.withUnsafeMutableBufferPointer { inputBuffer in
      output.withUnsafeMutableBufferPointer { outputBuffer in
        var (from, to) = (inputBuffer.baseAddress, outputBuffer.baseAddress)
        var (fromLeft, toLeft) = (bytes.count, room)
        guard iconv(converter, &from, &fromLeft, &to, &toLeft) == 0 else { return nil }
        guard iconv(converter, nil, nil, &to, &toLeft) != -1 else { return nil }
        return toLeft
      }
    }
    return left.map { output.prefix(room - $0).map { UInt8(bitPattern: $0) } }
  }
}
