import Foundation
import Testing

/// Types and functions stay small enough to be held in one's head.
@Suite struct ShapeTests {
  /// A type that stores more is several types.
  static let storedLimit = 25
  /// A function that is longer has parts with names. One hot loop may be longer; its doc comment says so after
  /// `SwiftShape.hotLoopMark`, with the reason.
  static let lineLimit = 60

  /// Types that store more, not yet mended. A count may only go down; a type that is within the limit is taken out here.
  static let largeTypes: [String: Int] = [
    "Upsurge/RunSummary": 39,
  ]

  /// Functions that are longer, not yet mended. A count may only go down; a function that is within the limit is taken out here.
  static let longFunctions: [String: Int] = [:]

  private static let shapes: Result<[String: SwiftShape], any Error> = Result {
    var shapes: [String: SwiftShape] = [:]
    let root = SourceTree.root.appendingPathComponent("Sources").path + "/"
    for file in try SourceTree.files(under: "Sources", ending: "swift") {
      let path = String(file.path.dropFirst(root.count))
      if path.hasPrefix("Upsurge") { shapes[path] = SwiftShape(try SourceTree.bytes(file)) }
    }
    return shapes
  }

  @Test("Each file was read to its end")
  func balance() throws {
    let shapes = try Self.shapes.get()
    #expect(shapes.count > 500)
    #expect(shapes.filter { !$0.value.isBalanced }.keys.sorted() == [])
    #expect(shapes.values.reduce(0) { $0 + $1.types.count } > 800)
    #expect(shapes.values.reduce(0) { $0 + $1.functions.count } > 4000)
  }

  @Test("No type stores more than it may")
  func types() throws {
    try check(against: Self.largeTypes, table: "largeTypes") { shape in
      shape.types.filter { $0.storedCount > Self.storedLimit }.map { ($0.name, $0.storedCount) }
    }
  }

  @Test("No function is longer than it may be")
  func functions() throws {
    try check(against: Self.longFunctions, table: "longFunctions") { shape in
      shape.functions.filter { $0.lineCount > Self.lineLimit && !$0.isHotLoop }.map {
        ($0.name, $0.lineCount)
      }
    }
  }

  /// Compares what is over a limit, by `Module/Type.function`, with what is known to be.
  private func check(
    against known: [String: Int], table: String, _ over: (SwiftShape) -> [(name: String, count: Int)]
  ) throws {
    var found: [String: Int] = [:]
    for (path, shape) in try Self.shapes.get() {
      let module = path.prefix { $0 != "/" }
      for (name, count) in over(shape) {
        found["\(module)/\(name)", default: 0] = max(count, found["\(module)/\(name)"] ?? 0)
      }
    }
    for (name, count) in found.sorted(by: { $0.key < $1.key }) {
      #expect(count <= known[name] ?? 0, "\(name) has \(count)")
    }
    for name in known.keys.sorted() where found[name] == nil {
      Issue.record("\(name) is within the limit: take it out of `\(table)`")
    }
  }
}
