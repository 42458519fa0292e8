extension String {
  /// What names are looked up by: two names have the same key when SQLite takes them for one, which is when they
  /// differ in the case of ASCII letters only. Not to be shown.
  ///
  /// To Swift `é` and `e` with a combining accent are the same text; to SQLite they are two names. So each byte
  /// beyond ASCII becomes a scalar of its own here.
  package var nameKey: String {
    if utf8.allSatisfy({ $0 < 0x80 && !(0x41...0x5A).contains($0) }) { return self }
    var key = UnicodeScalarView()
    for byte in utf8 { key.append(Unicode.Scalar((0x41...0x5A).contains(byte) ? byte | 0x20 : byte)) }
    return String(key)
  }
}
