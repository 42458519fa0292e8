import Foundation
import Testing

/// What a program gets with the models.
@Suite struct PackageGraphTests {
  /// The C targets that models may need: the system's SQLite, and our own kernels, which come without a library.
  static let permitted: Set<String> = ["CScan", "CSQLite"]

  private static func manifest() throws -> String {
    String(
      decoding: try SourceTree.bytes(SourceTree.root.appendingPathComponent("Package.swift")), as: UTF8.self)
  }

  /// The targets of C among those that `module` is built from: they have no file of Swift.
  private static func librariesOfC(below module: String, in manifest: String) throws -> Set<String> {
    try PackageGraph(Array(manifest.utf8)).allDependencies(of: module).filter {
      try SourceTree.files(of: $0).isEmpty
    }
  }

  @Test("Models need SQLite and no other library of C", arguments: ["UpsurgeModels", "UpsurgeGRDB"])
  func models(module: String) throws {
    #expect(try Self.librariesOfC(below: module, in: Self.manifest()) == Self.permitted)
  }

  @Test("Models are built of few modules, and of none that reads files")
  func modules() throws {
    let below = PackageGraph(Array(try Self.manifest().utf8)).allDependencies(of: "UpsurgeGRDB")
    #expect(
      below.subtracting(Self.permitted) == [
        "UpsurgeModels", "UpsurgeMacros", "UpsurgeBulk", "UpsurgeStorage", "UpsurgeState", "UpsurgePlan",
        "UpsurgeSQLite",
        "UpsurgeRecords",
      ])
  }

  /// What comes with the compiler and the system.
  private static let system: Set<String> = [
    "Darwin", "Dispatch", "Foundation", "FoundationNetworking", "FoundationXML", "Glibc", "Synchronization",
    "Testing",
  ]

  /// Targets that another one needs without importing them, each with the reason.
  private static let unimported: [String: [String: String]] = [
    "UpsurgeExamplesTests": ["UpsurgeExamples": "is run as a program"],
    "TestSupport": ["TestThreads": "is at work when it is linked"],
  ]

  /// What the targets declare and do not import, or import and do not declare; targets of C have no file of Swift.
  private static func differences(in manifest: String) throws -> [String] {
    let graph = PackageGraph(Array(manifest.utf8))
    var found: [String] = []
    for (target, folder) in graph.folders {
      let files = try SourceTree.files(under: folder, ending: "swift")
      if files.isEmpty { continue }
      var imported: Set<String> = []
      for file in files { imported.formUnion(SourceTree.imports(of: try SourceTree.bytes(file))) }
      imported.subtract(system)
      let declared = Set(graph.dependencies[target] ?? []).union(graph.products[target] ?? [])
      for name in imported.subtracting(declared) { found.append("\(target) imports \(name)") }
      for name in declared.subtracting(imported) where unimported[target]?[name] == nil {
        found.append("\(target) declares \(name)")
      }
    }
    return found.sorted()
  }

  @Test("Each target declares the modules that it imports, and no others")
  func exact() throws {
    let manifest = try Self.manifest()
    #expect(PackageGraph(Array(manifest.utf8)).folders.count > 45)
    let differences = try Self.differences(in: manifest)
    #expect(differences == [])
  }

  @Test(
    "A module that is declared and not imported is found, and one that is imported and not declared",
    arguments: [
      (
        ".target(name: \"UpsurgeRecords\"", ".target(name: \"UpsurgeRecords\", dependencies: [\"CScan\"]",
        "UpsurgeRecords declares CScan"
      ),
      (
        ".product(name: \"ArgumentParser\", package: \"swift-argument-parser\"),", "",
        "UpsurgeCommand imports ArgumentParser"
      ),
      ("[\"CSQLite\", \"UpsurgeRecords\"]", "[\"UpsurgeRecords\"]", "UpsurgeSQLite imports CSQLite"),
    ])
  func inexact(place: String, other: String, expected: String) throws {
    let manifest = try Self.manifest()
    let changed = manifest.replacing(place, with: other)
    #expect(changed != manifest)
    let differences = try Self.differences(in: changed)
    #expect(differences == [expected])
  }

  @Test("What a file imports")
  func imports() {
    let source = """
      @testable import A
      import struct B.C
      // import E
      @_exported import F
      let important = "import G"
      macro H() = #externalMacro(module: "I", type: "J")
        import K
      """
    #expect(SourceTree.imports(of: Array(source.utf8)) == ["A", "B", "F", "I", "K"])
  }

  @Test(
    "A manifest whose models need another library is found",
    arguments: [
      (
        ".target(\n      name: \"UpsurgeBulk\",\n      dependencies: [", "\"Upsurge\", ",
        ["CArchive", "CCurl", "CIconv", "CZlib", "CZstd"]
      ),
      (".target(name: \"UpsurgeRecords\"", ", dependencies: [\"CYAML\"]", ["CYAML"]),
      ("name: \"UpsurgeState\", dependencies: [", "\"CZlib\", ", ["CZlib"]),
    ])
  func found(place: String, more: String, expected: [String]) throws {
    let manifest = try Self.manifest()
    let changed = manifest.replacing(place, with: place + more)
    #expect(changed != manifest)
    #expect(try Self.librariesOfC(below: "UpsurgeModels", in: changed) == Self.permitted.union(expected))
  }

  @Test("Targets are read with what they name, and products are none")
  func reading() {
    let graph = PackageGraph(
      Array(
        """
        .target(name: "A"), .systemLibrary(name: "C", pkgConfig: "c", providers: [.apt(["libc-dev"])]),
        // .target(name: "Z", dependencies: ["C"]),
        .macro(name: "M", dependencies: [.product(name: "P", package: "p")]),
        .target(
          name: "B",
          dependencies: ["A", .product(name: "Q", package: "q", condition: .when(traits: ["T"])), "M"], path: "X/Y"),
        .testTarget(
          name: "BTests", dependencies: [.target(name: "B", condition: .when(platforms: [.linux])), .byName(name: "C")],
          resources: [.copy("Fixtures")]),
        """.utf8))
    #expect(graph.products == ["A": [], "C": [], "M": ["P"], "B": ["Q"], "BTests": []])
    #expect(
      graph.folders == [
        "A": "Sources/A", "C": "Sources/C", "M": "Sources/M", "B": "X/Y", "BTests": "Tests/BTests",
      ])
    #expect(graph.dependencies == ["A": [], "C": [], "M": [], "B": ["A", "M"], "BTests": ["B", "C"]])
    #expect(graph.allDependencies(of: "BTests") == ["A", "B", "C", "M"])
  }
}
