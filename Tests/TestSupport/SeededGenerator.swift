#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers for the same seed, so that a failure can be repeated.
public struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

extension SeededGenerator {
  /// What `UPSURGE_SEED` says; tests choose others each time without it.
  public static let givenSeed: UInt64? = getenv("UPSURGE_SEED").flatMap { UInt64(String(cString: $0)) }

  /// How many random cases are tried: `count`, or `most` with `UPSURGE_SEEDS=all`.
  public static func some(_ count: Int, most: Int) -> Int { triesAll ? most : count }

  private static var triesAll: Bool { getenv("UPSURGE_SEEDS").map { String(cString: $0) } == "all" }

  /// A quarter of the seeds below `count`, as a debug build is slow; all with `UPSURGE_SEEDS=all`. They are others each
  /// time, unless `UPSURGE_SEED` says where they begin.
  public static func some<Number: FixedWidthInteger>(of count: Number) -> Range<Number> {
    if triesAll { return 0..<count }
    let last = count - count / 4
    let given = givenSeed.map { Number(truncatingIfNeeded: $0 % (UInt64(last) + 1)) }
    let first = given ?? Number.random(in: 0...last)
    return first..<first + count / 4
  }
}
