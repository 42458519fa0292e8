import FuzzTargets
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What the fuzzer has found, the corpus from which it goes on, and a fixed number of changes to that corpus.
///
/// One after another: some targets share a file.
@Suite("Fuzz targets", .serialized)
struct FuzzTests {
  @Test("What was found once", arguments: FuzzInputs.all("Findings")) func finding(input: FuzzInputs) throws {
    try input.target.run(readFile(input.path))
  }

  @Test("The corpus", arguments: FuzzTarget.allCases) func corpus(target: FuzzTarget) throws {
    let inputs = FuzzInputs.all("Corpus").filter { $0.target == target }
    #expect(inputs.count >= 20)
    for input in inputs {
      #expect(throws: Never.self, "\(input.path)") { try target.run(readFile(input.path)) }
    }
  }

  @Test("Changes to the corpus", arguments: FuzzTarget.allCases) func changes(target: FuzzTarget) throws {
    let inputs = try FuzzInputs.all("Corpus").filter { $0.target == target }.map { try readFile($0.path) }
    let seed = SeededGenerator.givenSeed ?? UInt64.random(in: 0 ... .max)
    var mutator = Mutator(random: SeededGenerator(seed: seed), inputs: inputs)
    for _ in 0..<FuzzInputs.changeCount(of: target) {
      let bytes = mutator.next()
      do {
        try target.run(bytes)
      } catch {
        Issue.record("seed \(seed), input \(bytes): \(error)")
        return
      }
    }
  }
}

/// A file with an input.
struct FuzzInputs: Sendable, CustomTestStringConvertible {
  var target: FuzzTarget
  var path: String

  var testDescription: String { "\(target.rawValue)/\(path.split(separator: "/").last ?? "")" }

  /// So many that all of them take a few seconds in a debug build.
  static func changeCount(of target: FuzzTarget) -> Int {
    switch target {
    case .load, .replay: 75
    case .source: 500
    default: 1_000
    }
  }

  /// All inputs of a folder beside this one.
  static func all(_ folder: String) -> [FuzzInputs] {
    var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    parts.removeLast(2)
    let root = parts.joined(separator: "/") + "/" + folder
    return FuzzTarget.allCases.flatMap { target in
      list("\(root)/\(target.rawValue)").map { FuzzInputs(target: target, path: $0) }
    }
  }

  private static func list(_ folder: String) -> [String] {
    guard let listing = opendir(folder) else { return [] }
    defer { closedir(listing) }
    var paths: [String] = []
    while let entry = readdir(listing) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if !name.hasPrefix(".") { paths.append("\(folder)/\(name)") }
    }
    return paths.sorted()
  }
}

/// Changes inputs a little, by chance: what the fuzzer does with more insight.
struct Mutator {
  var random: SeededGenerator
  var inputs: [[UInt8]]

  mutating func next() -> [UInt8] {
    var bytes = inputs.randomElement(using: &random) ?? []
    for _ in 0..<Int.random(in: 1...4, using: &random) { change(&bytes) }
    return Array(bytes.prefix(1_024))
  }

  private mutating func change(_ bytes: inout [UInt8]) {
    let at = Int.random(in: 0...bytes.count, using: &random)
    let end = min(bytes.count, at + Int.random(in: 0...8, using: &random))
    switch Int.random(in: 0..<6, using: &random) {
    case 0 where at < bytes.count: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 1 where at < bytes.count: bytes[at] = UInt8.random(in: 0...255, using: &random)
    case 2: bytes.removeSubrange(at..<end)
    case 3: bytes.insert(contentsOf: bytes[at..<end], at: Int.random(in: 0...bytes.count, using: &random))
    case 4: bytes.insert(Array(",\"\n\r{}[]:\\'0 ".utf8).randomElement(using: &random) ?? 0, at: at)
    default:
      let other = inputs.randomElement(using: &random) ?? []
      let cut = Int.random(in: 0...other.count, using: &random)
      bytes = Array(bytes[..<at]) + other[cut...]
    }
  }
}
