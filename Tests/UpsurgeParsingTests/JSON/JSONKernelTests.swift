import CScan
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeParsing

@Suite("JSON kernels")
struct JSONKernelTests {
  @Test("the scan of strings equals its portable twin at every length and alignment")
  func twins() {
    var random = SeededGenerator(seed: 7)
    let special: [UInt8] = [
      0x22, 0x5C, 0x00, 0x1F, 0x0A, 0x20, 0x21, 0x23, 0x5B, 0x5D, 0x7F, 0x80, 0xFF, 0xC3,
    ]
    let room = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 256)
    defer { room.deallocate() }
    room.initialize(repeating: 0x22)
    guard let base = room.baseAddress else { return }
    for length in 0...200 {
      for alignment in 0..<16 {
        for index in 0..<length { base[alignment + index] = 0x61 }
        for _ in 0..<Int.random(in: 0...2, using: &random) where length > 0 {
          base[alignment + Int.random(in: 0..<length, using: &random)] =
            special[Int.random(in: 0..<special.count, using: &random)]
        }
        let start = UnsafePointer(base + alignment)
        var isHigh = false
        var isHighPortable = false
        var isHighWords = false
        let found = upsurge_json_skip_plain(start, start + length, &isHigh)
        let portable = upsurge_json_skip_plain_portable(start, start + length, &isHighPortable)
        let words = upsurge_json_skip_plain_words(start, start + length, &isHighWords)
        #expect(found == words && isHigh == isHighWords, "words: length \(length), alignment \(alignment)")
        #expect(found == portable && isHigh == isHighPortable, "length \(length), alignment \(alignment)")
      }
    }
  }

  @Test("the kernels write cells as Swift lays them out")
  func cellLayout() {
    #expect(MemoryLayout<Cell>.size == MemoryLayout<upsurge_cell>.size && MemoryLayout<Cell>.stride == 16)
    #expect(MemoryLayout<Cell>.offset(of: \.kind) == MemoryLayout<upsurge_cell>.offset(of: \.kind))
    #expect(
      MemoryLayout<Cell>.offset(of: \.isInSpill) == MemoryLayout<upsurge_cell>.offset(of: \.is_in_spill))
    #expect(MemoryLayout<Cell>.offset(of: \.byteCount) == MemoryLayout<upsurge_cell>.offset(of: \.byte_count))
    #expect(MemoryLayout<Cell>.offset(of: \.payload) == MemoryLayout<upsurge_cell>.offset(of: \.payload))
    let kinds = [
      UPSURGE_CELL_ABSENT, UPSURGE_CELL_NULL, UPSURGE_CELL_INTEGER, UPSURGE_CELL_REAL, UPSURGE_CELL_TEXT,
    ]
    let swiftKinds: [Cell.Kind] = [.absent, .null, .integer, .real, .text]
    #expect(kinds.map { Int($0) } == swiftKinds.map { Int($0.rawValue) })
    #expect(Int(Affinity.text.rawValue) == Int(UPSURGE_AFFINITY_TEXT))
    #expect(Int(Affinity.real.rawValue) == Int(UPSURGE_AFFINITY_REAL))
    let numeric: [Affinity] = [.none, .text, .numeric, .integer, .real]
    #expect(numeric.allSatisfy { $0.isNumeric == ($0.rawValue >= UInt8(UPSURGE_AFFINITY_NUMERIC)) })
  }

  @Test("UTF-8 is judged as the standard library judges it")
  func utf8() {
    var random = SeededGenerator(seed: 11)
    let bytes: [UInt8] = [
      0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEE,
      0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
    ]
    for _ in 0..<200_000 {
      let text = (0..<Int.random(in: 1...6, using: &random)).map { _ in
        bytes[Int.random(in: 0..<bytes.count, using: &random)]
      }
      let isValid = text.withUnsafeBufferPointer { buffer in
        buffer.baseAddress.map { upsurge_json_utf8_valid($0, $0 + buffer.count) }
      }
      let expected = String(validating: text, as: UTF8.self) != nil
      if isValid != expected { Issue.record("\(text) should be \(expected)") }
    }
  }
}
