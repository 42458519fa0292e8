import Foundation
import TestSupport
import Testing

/// Modules import one another in one direction.
@Suite struct ModuleArrowsTests {
  /// What each module may import of the package, of C and of others; the picture in Package.swift.
  static let picture: [String: Set<String>] = [
    "UpsurgeRecords": [],
    "UpsurgeParsing": ["CScan", "UpsurgeRecords"],
    "UpsurgeInput": ["CArchive", "CCurl", "CIconv", "CZlib", "CZstd", "UpsurgeRecords"],
    "UpsurgeSQLite": ["CSQLite", "UpsurgeRecords"],
    "UpsurgePlan": ["CScan", "CSQLite", "UpsurgeRecords", "UpsurgeSQLite"],
    "UpsurgeState": ["CSQLite", "UpsurgePlan", "UpsurgeRecords", "UpsurgeSQLite"],
    "UpsurgeStorage": ["CScan", "CSQLite", "UpsurgePlan", "UpsurgeRecords", "UpsurgeSQLite", "UpsurgeState"],
    "UpsurgeBulk": ["UpsurgePlan", "UpsurgeRecords", "UpsurgeSQLite", "UpsurgeStorage"],
    "Upsurge": [
      "UpsurgeBulk", "UpsurgeInput", "UpsurgeParsing", "UpsurgePlan", "UpsurgeRecords", "UpsurgeSQLite", "UpsurgeState",
      "UpsurgeStorage",
    ],
    "UpsurgeMirror": [
      "Upsurge", "UpsurgeInput", "UpsurgePlan", "UpsurgeRecords", "UpsurgeSQLite", "UpsurgeState", "UpsurgeStorage",
    ],
    "UpsurgeBench": ["CSQLite", "Upsurge", "UpsurgeInput", "UpsurgeParsing", "UpsurgeRecords", "UpsurgeSQLite"],
    "UpsurgePostgres": [
      "CPostgres", "Upsurge", "UpsurgeInput", "UpsurgeParsing", "UpsurgeRecords", "UpsurgeState", "UpsurgeStorage",
    ],
    "UpsurgePostgresBench": ["Upsurge", "UpsurgeBench", "UpsurgePostgres", "UpsurgeRecords"],
    "UpsurgeMove": ["Upsurge", "UpsurgeInput", "UpsurgePostgres", "UpsurgeRecords", "UpsurgeSQLite", "UpsurgeState"],
    "UpsurgeCommand": [
      "ArgumentParser", "CScan", "CYAML", "Upsurge", "UpsurgeBench", "UpsurgeInput", "UpsurgeMirror", "UpsurgeMove",
      "UpsurgePostgres", "UpsurgePostgresBench", "UpsurgeRecords",
    ],
    "UpsurgeMain": ["UpsurgeCommand"],
    "UpsurgeModels": [
      "CSQLite", "Foundation", "UpsurgeBulk", "UpsurgeMacros", "UpsurgePlan", "UpsurgeRecords", "UpsurgeSQLite", "UpsurgeState",
      "UpsurgeStorage",
    ],
    "UpsurgeGRDB": ["Foundation", "GRDB", "UpsurgeModels"],
  ]
  private static let system: Set<String> = ["Glibc", "Darwin", "Synchronization", "Dispatch"]

  @Test("Each module imports what the picture shows, and nothing else", arguments: picture.keys.sorted())
  func imports(module: String) throws {
    let allowed = try #require(Self.picture[module]).union(Self.system)
    var imported: Set<String> = []
    for file in try SourceTree.files(of: module) { imported.formUnion(SourceTree.imports(of: try SourceTree.bytes(file))) }
    #expect(!imported.isEmpty || module == "UpsurgeRecords")
    #expect(imported.subtracting(allowed).isEmpty, "\(imported.subtracting(allowed).sorted())")
  }

  @Test("The arrows of the picture make no circle")
  func order() {
    var left = Self.picture.mapValues { $0.filter { Self.picture[$0] != nil } }
    while let next = left.first(where: { $0.value.isEmpty })?.key {
      left[next] = nil
      for module in left.keys { left[module]?.remove(next) }
    }
    #expect(left.isEmpty, "\(left.keys.sorted())")
  }
}
