/// Base64 (RFC 4648, section 4), for bytes that are no text.
package enum Base64 {
  private static let digits = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  package static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let count = min(3, bytes.count - start)
      var group = 0
      for index in 0..<3 { group = group << 8 | (index < count ? Int(bytes[start + index]) : 0) }
      for index in 0..<4 {
        let isPadding = index > count
        text.append(isPadding ? UInt8(ascii: "=") : digits[group >> (18 - 6 * index) & 63])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
