import Foundation
import Testing

/// Types and functions stay small enough to be held in one's head.
@Suite struct ShapeTests {
  /// A type that stores more is several types.
  static let storedLimit = 25
  /// What every load needs of the writer; what a feature needs stands with its stage.
  static let writerLimit = 15
  /// A function that is longer has parts with names. One hot loop may be longer; its doc comment says so after
  /// `SwiftShape.hotLoopMark`, with the reason.
  static let lineLimit = 60

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
    let large = try found { shape in
      shape.types.filter { $0.storedCount > Self.storedLimit }.map { "\($0.name) stores \($0.storedCount)" }
    }
    #expect(large == [])
  }

  @Test("The writer's core stores no more than every load needs")
  func writer() throws {
    let counts = try Self.shapes.get().flatMap { path, shape in
      shape.types.filter { path.hasPrefix("UpsurgeStorage/") && $0.name == "TableWriter" }.map(\.storedCount)
    }
    // One type, and not a name that is found no more.
    #expect(counts.count == 1 && counts[0] >= 10, "\(counts)")
    #expect(counts.allSatisfy { $0 <= Self.writerLimit }, "TableWriter stores \(counts); a stage may keep some of it")
  }

  @Test("No function is longer than it may be")
  func functions() throws {
    let long = try found { shape in
      shape.functions.filter { $0.lineCount > Self.lineLimit && !$0.isHotLoop }.map {
        "\($0.name) has \($0.lineCount) lines"
      }
    }
    #expect(long == [])
  }

  /// What is over a limit in any file: `Module/Type.function`, and how much it has.
  private func found(_ over: (SwiftShape) -> [String]) throws -> [String] {
    try Self.shapes.get().flatMap { path, shape in over(shape).map { "\(path.prefix { $0 != "/" })/\($0)" } }
      .sorted()
  }
}
