import Testing

/// The reader of declarations tells properties that are stored from others, and where a function ends.
@Suite struct SwiftShapeTests {
  private func shape(_ source: String) -> SwiftShape { SwiftShape(Array(source.utf8)) }

  /// The counts of a type's properties, and the length of each function, as `name lines`.
  private func functions(_ source: String) -> [String] {
    shape(source).functions.map { "\($0.name) \($0.lineCount)" }
  }

  @Test(
    "Properties that are stored",
    arguments: [
      ("let a, b: Int", 2), ("var a = 1, b = 2, c: Int", 3), ("var (a, b) = (1, 2)", 2),
      ("let (a, _): (Int, Int)", 1),
      ("let a: Dictionary<String, Int>, b: Int", 2), ("var a = [String: Array<Int>](), b = min(1, 2)", 2),
      ("@Option(help: \"a { b\") var a: Int", 1), ("@Flag(\n  name: .long)\nvar a = false", 1),
      ("@A.B var a: Int", 1),
      ("private(set) package var a: Int", 1), ("nonisolated(unsafe) var a: Int", 1), ("lazy var a = 1", 1),
      ("var a = 1 {\n  didSet { print(a) }\n}", 1),
      ("var a: Int {\n  willSet { b() }\n  didSet { b() }\n}\nvar c = 1", 2),
      ("var a: () -> Int = { let b = 1; return b }", 1),
      ("var a = {\n  var b = 1\n  return b\n}()\nvar c = 1", 2),
      ("var a: Int = b {\n  $0 + 1\n}", 1), ("var a =\n  b\n  .c { let d = 1 }\nlet e = 1", 2),
      ("let `default`: Int", 1),
      ("let a = 1; let b = 2; func c() {}; let d = 3", 3), ("#if DEBUG\n  var a: Int\n#endif", 1),
      // Not stored.
      ("var a: Int { 1 }", 0), ("var a: Int {\n  get { 1 }\n  set { let b = newValue }\n}", 0),
      ("static let a = 1", 0),
      ("class var a: Int { 1 }", 0), ("private static var a = 1", 0), ("func a() { let b = 1 }", 0),
      ("init(a: Int = { let b = 1; return b }()) { let c = a }", 0),
      ("subscript(a: Int) -> Int { let b = a; return b }", 0),
      ("// let a: Int", 0), ("/* var a = {\n */", 0), ("static let a = \"\"\"\n  let b: Int {\n  \"\"\"", 0),
      ("class B { var a = 1 }", 0), ("struct B { let a: Int }", 0), ("typealias A = Int", 0),
      ("var a: Int { get async throws { 1 } }", 0), ("var a: Int { _read { yield b } }", 0),
      ("var a: Int { set(1) }", 0),
    ])
  func stored(body: String, count: Int) {
    let shape = shape("struct A: B where C == D {\n\(body)\n}\nlet outside = 1\n")
    #expect(shape.isBalanced)
    #expect(shape.types.last == SwiftShape.TypeShape(name: "A", storedCount: count))
  }

  @Test("Types within types, extensions and functions have names of their own")
  func nested() {
    let source = """
      public final class A<B> where B: C {
        let a: Int
        struct D { let b, c: Int; enum E { case f(Int), g } }
        func h() { struct I { var j: Int } }
        class func k() {}
      }
      extension A.D { actor L { var m = 1 } }
      protocol N { var o: Int { get }; func p(); init() }
      """
    let shape = shape(source)
    #expect(shape.isBalanced)
    #expect(shape.types.map(\.name) == ["A.D.E", "A.D", "A.h.I", "A", "A.D.L"])
    #expect(shape.types.map(\.storedCount) == [0, 2, 1, 1, 1])
    #expect(shape.functions.map(\.name) == ["A.h", "A.k"])
  }

  @Test("A function counts from its keyword to its brace")
  func lines() {
    let source = #"""
      /// What { it is for.
      @discardableResult
      func a(
        b: Int = { 1 }()
      ) -> Int {
        // }
        let c = "} \(d { 1 }) {"
        let e = """
          }
          """
        return c
      }
      func f() {}
      """#
    #expect(functions(source) == ["a 10", "f 1"])
  }

  @Test("Initializers, operators, subscripts and accessors are functions")
  func kinds() {
    let source = """
      struct A {
        init?(a: Int) {
        }
        deinit {}
        static func == (a: A, b: A) -> Bool {
          true }
        static func < <B>(a: A, b: B) -> Bool { true }
        subscript(a: Int) -> Int {
          get { 1 }
          set {
          }
        }
        subscript(a: Bool) -> Int {
          1
        }
        var b: Int {
          func c() {}
          return 1
        }
        var d: Int = 1 {
          didSet {
          }
        }
        var e: Int {
          get throws {
            1
          }
        }
      }
      var f: Int { 1 }
      """
    #expect(
      functions(source) == [
        "A.init 2", "A.deinit 1", "A.== 2", "A.< 1", "A.subscript.get 1", "A.subscript.set 2",
        "A.subscript 3", "A.b.c 1", "A.b 4",
        "A.d.didSet 2", "A.e.get 3", "f 1",
      ])
  }

  @Test("A hot loop says so in its doc comment")
  func hotLoops() {
    let source = """
      struct A {
        /// Reads it all.
        ///
        /// Hot loop: its state stays in registers.
        @inline(__always)
        mutating func b() {}

        /// Reads it all.
        func c() {
          // Hot loop: not in the doc comment
        }
      }
      """
    #expect(shape(source).functions.map(\.isHotLoop) == [true, false])
  }

  @Test(
    "A bracket too few or too many is noticed",
    arguments: ["struct A {", "}", "func a() { (", "struct A { let a = (1 }"])
  func unbalanced(source: String) { #expect(!shape(source).isBalanced) }
}
