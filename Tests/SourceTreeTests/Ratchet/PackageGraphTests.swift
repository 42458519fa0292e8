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
        "UpsurgeModels", "UpsurgeMacros", "UpsurgeBulk", "UpsurgeStorage", "UpsurgeState", "UpsurgePlan", "UpsurgeSQLite",
        "UpsurgeRecords",
      ])
  }

  @Test(
    "A manifest whose models need another library is found",
    arguments: [
      (
        ".target(\n      name: \"UpsurgeBulk\",\n      dependencies: [", "\"Upsurge\", ",
        ["CCurl", "CIconv", "CZlib", "CZstd"]
      ),
      (".target(name: \"UpsurgeRecords\"", ", dependencies: [\"CYAML\"]", ["CYAML"]),
      (".target(name: \"UpsurgeState\", dependencies: [", "\"CZlib\", ", ["CZlib"]),
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
    #expect(graph.dependencies == ["A": [], "C": [], "M": [], "B": ["A", "M"], "BTests": ["B", "C"]])
    #expect(graph.allDependencies(of: "BTests") == ["A", "B", "C", "M"])
  }
}
