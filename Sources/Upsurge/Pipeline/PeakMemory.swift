#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The process's largest resident size so far. On Linux from /proc: getrusage counts the parent's before exec.
func peakMemoryByteCount() -> UInt64 {
  #if os(Linux)
    guard let file = fopen("/proc/self/status", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
      let bytes = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
      if words.count >= 2, words[0] == "VmHWM:", let kibibytes = UInt64(words[1]) { return kibibytes << 10 }
    }
    return 0
  #else
    var usage = rusage()
    return getrusage(RUSAGE_SELF, &usage) == 0 ? UInt64(usage.ru_maxrss) : 0
  #endif
}
