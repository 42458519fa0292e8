#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Times as notes have them: UTC, ISO 8601.
enum Moment {
  /// Seconds since 1970; nil for what is no such time.
  static func seconds(_ text: String) -> Int64? {
    let numbers = text.split { !$0.isNumber }.compactMap { Int32($0) }
    guard text.hasSuffix("Z"), numbers.count == 6 else { return nil }
    var parts = tm()
    (parts.tm_year, parts.tm_mon, parts.tm_mday) = (numbers[0] - 1900, numbers[1] - 1, numbers[2])
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (numbers[3], numbers[4], numbers[5])
    return Int64(timegm(&parts))
  }
}
