import CScan
import TestSupport
import Testing

/// Every kernel finds the same positions as a loop over the bytes.
@Suite struct StructuralKernelTests {
  static let levels = Array(0...Int32(upsurge_simd_level()))

  @Test(arguments: levels) func equalsPlainLoopAtEveryLengthAndAlignment(level: Int32) {
    let seed = UInt64.random(in: 0 ... .max)
    var generator = SeededGenerator(seed: seed)
    let marks: [UInt8] = [0x2C, 0x22, 0x5C, 0x0A, 0x0D]
    let needles = upsurge_needles(byte: (marks[0], marks[1], marks[2], marks[3], marks[4]))
    // Sparse, dense, full, and every byte value.
    let alphabets: [[UInt8]] = [[0x61, 0x61, 0x61, 0x61, 0x61, 0x2C], marks + [0x61], marks, Array(0...255)]
    var positions = [UInt32](repeating: 0, count: 264 + Int(UPSURGE_STRUCTURAL_SLACK))
    for alphabet in alphabets {
      let bytes = (0..<264).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
      for length in 0...200 {
        for alignment in 0..<64 where alignment < 8 || length % 16 == alignment % 16 {
          let expected = (0..<length).filter { marks.contains(bytes[alignment + $0]) }.map { UInt32($0 + 1000) }
          let count = bytes.withUnsafeBufferPointer {
            upsurge_structural(level, $0.baseAddress! + alignment, length, needles, 1000, &positions)
          }
          let isSame = Array(positions[..<count]) == expected
          #expect(isSame, "seed \(seed), length \(length), alignment \(alignment)")
          if !isSame { return }
        }
      }
    }
  }
}
