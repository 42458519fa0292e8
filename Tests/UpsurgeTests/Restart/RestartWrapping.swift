import TestSupport
import UpsurgeInput

/// How the same text lies in a file.
enum RestartWrapping: String, CaseIterable {
  case plain, marked, zstdOneFrame, zstdFrames, zstdTinyFrames, gzipMembers, gzipTinyMembers, zstdCut, gzipCut
  case utf16, utf16Zstd, windows1252

  var encoding: TextEncoding {
    switch self {
    case .windows1252: .windows1252
    case .utf16, .utf16Zstd: .auto
    default: .utf8
    }
  }

  var isCut: Bool { self == .zstdCut || self == .gzipCut }

  /// Whether a decompressor can begin somewhere else than at the start.
  var hasAnchors: Bool {
    switch self {
    case .zstdFrames, .zstdTinyFrames, .gzipMembers, .gzipTinyMembers, .zstdCut, .gzipCut: true
    default: false
    }
  }

  func wrap(_ text: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    switch self {
    case .plain, .windows1252: return text
    case .marked: return mark + text
    case .zstdOneFrame: return Compressing.zstd(mark + text)
    case .zstdFrames: return Self.parts(of: mark + text, 1...900, &random) { Compressing.zstd($0) }
    case .zstdTinyFrames:
      // As pzstd writes: a skippable frame before each one; some are empty.
      return Self.parts(of: text, 0...12, &random) {
        Compressing.skippable([1, 2, 3, 4]) + Compressing.zstd($0, contentSize: true)
      }
    case .gzipMembers:
      return Self.parts(of: mark + text, 1...900, &random) { Compressing.gzip($0, name: "a") }
    case .gzipTinyMembers:
      // As bgzip writes: an empty member at the end, and here zero bytes behind it.
      return Self.parts(of: text, 0...12, &random) { Compressing.gzip($0) } + Compressing.gzip([])
        + [UInt8](repeating: 0, count: 100)
    case .zstdCut: return Array(Self.parts(of: text, 1...900, &random) { Compressing.zstd($0) }.dropLast(3))
    case .gzipCut: return Array(Self.parts(of: text, 1...900, &random) { Compressing.gzip($0) }.dropLast(9))
    case .utf16: return Self.utf16(text)
    case .utf16Zstd: return Self.parts(of: Self.utf16(text), 1...900, &random) { Compressing.zstd($0) }
    }
  }

  private static func utf16(_ text: [UInt8]) -> [UInt8] {
    ("\u{FEFF}" + String(decoding: text, as: UTF8.self)).utf16.flatMap {
      [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)]
    }
  }

  private static func parts(
    of bytes: [UInt8], _ sizes: ClosedRange<Int>, _ random: inout SeededGenerator,
    _ compress: ([UInt8]) -> [UInt8]
  ) -> [UInt8] {
    var output: [UInt8] = []
    var at = 0
    while at < bytes.count {
      let end = min(bytes.count, at + Int.random(in: sizes, using: &random))
      output += compress(Array(bytes[at..<end]))
      at = end
    }
    return output
  }
}
