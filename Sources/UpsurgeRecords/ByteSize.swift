/// A number of bytes as people write it: `4096`, `64KiB`, `256MiB`, `1GiB`; `K`, `KB`, `M`, `G` mean the same
/// powers of 1,024.
public struct ByteSize: Sendable, Hashable, CustomStringConvertible {
  public var byteCount: Int

  public init(_ byteCount: Int) { self.byteCount = byteCount }

  public static func kibibytes(_ count: Int) -> ByteSize { ByteSize(count << 10) }
  public static func mebibytes(_ count: Int) -> ByteSize { ByteSize(count << 20) }

  /// - Returns: nil for what is no size, is negative or overflows.
  public init?(text: String) {
    let digits = text.prefix { ("0"..."9").contains($0) }
    guard let number = Int(digits) else { return nil }
    let shifts = ["": 0, "b": 0, "k": 10, "m": 20, "g": 30, "t": 40]
    var unit = text.dropFirst(digits.count).lowercased()
    if unit.hasSuffix("ib") {
      unit.removeLast(2)
    } else if unit.count == 2, unit.hasSuffix("b") {
      unit.removeLast()
    }
    guard let shift = shifts[unit] else { return nil }
    let (product, overflow) = number.multipliedReportingOverflow(by: 1 << shift)
    if overflow { return nil }
    byteCount = product
  }

  /// The largest unit that says it exactly: `64MiB`, `1536KiB`, `100`.
  public var description: String {
    for (shift, unit) in [(30, "GiB"), (20, "MiB"), (10, "KiB")]
    where byteCount > 0 && byteCount % (1 << shift) == 0 {
      return "\(byteCount >> shift)\(unit)"
    }
    return "\(byteCount)"
  }
}
