extension String {
  /// Whether the text holds these ASCII letters one after another, in whatever case, as SQLite looks for `INT` in a
  /// declared type.
  /// - Parameter word: ASCII, in upper case.
  package func containsASCII(_ word: StaticString) -> Bool {
    var text = self
    return text.withUTF8 { bytes in
      let count = word.utf8CodeUnitCount
      if bytes.count < count { return false }
      for start in 0...(bytes.count - count) {
        var length = 0
        while length < count {
          let byte = bytes[start + length]
          let upper = byte >= 0x61 && byte <= 0x7A ? byte & 0xDF : byte
          if upper != word.utf8Start[length] { break }
          length += 1
        }
        if length == count { return true }
      }
      return false
    }
  }
}
