// swift-tools-version: 6.1
import CompilerPluginSupport
import PackageDescription

// Arrows point one way: C targets <- UpsurgeRecords <- Parsing, Input, SQLite <- Upsurge <- UpsurgeMirror, UpsurgeBench
// <- UpsurgeCommand <- UpsurgeMain;
// UpsurgeBench and UpsurgePostgres <- UpsurgePostgresBench <- UpsurgeCommand;
// UpsurgeSQLite <- UpsurgePlan <- UpsurgeState <- UpsurgeStorage <- UpsurgeBulk <- Upsurge <- UpsurgePostgres <- UpsurgeMove
// <- UpsurgeCommand;
// UpsurgeBulk and UpsurgeMacros <- UpsurgeModels <- UpsurgeGRDB. Of C, models need SQLite and our own kernels.
let package = Package(
  name: "upsurge",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "upsurge", targets: ["UpsurgeMain"]),
    .library(name: "Upsurge", targets: ["Upsurge"]),
    .library(name: "UpsurgeMirror", targets: ["UpsurgeMirror"]),
    .library(name: "UpsurgeModels", targets: ["UpsurgeModels"]),
    .library(name: "UpsurgeGRDB", targets: ["UpsurgeGRDB"]),
  ],
  traits: [.trait(name: "GRDB", description: "UpsurgeGRDB: bulk calls and models on databases of GRDB")],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/swiftlang/swift-syntax", "600.0.1"..<"604.0.0"),
  ],
  targets: [
    // C kernels and the system's C libraries.
    .target(name: "CScan"),
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(
      name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
    // libarchive (apt: libarchive13) is loaded when an archive, or one of its codecs, is met; its header is not needed.
    .target(name: "CArchive", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    // The header of libcurl (apt: libcurl4-openssl-dev); the library is loaded when a URL is fetched.
    .target(name: "CCurl", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    // The header of libyaml (apt: libyaml-dev); the library is loaded when a job file is read.
    .target(name: "CYAML", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    // The header of libpq (apt: libpq-dev); the library is loaded when a server is named.
    .target(name: "CPostgres", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    // A part of the C library on Linux.
    .target(name: "CIconv", linkerSettings: [.linkedLibrary("iconv", .when(platforms: [.macOS]))]),

    // The engine, one stage a module.
    .target(name: "UpsurgeRecords"),
    .target(name: "UpsurgeParsing", dependencies: ["CScan", "UpsurgeRecords"]),
    .target(name: "UpsurgeInput", dependencies: ["CArchive", "CCurl", "CIconv", "CZlib", "CZstd", "UpsurgeRecords"]),
    .target(name: "UpsurgeSQLite", dependencies: ["CSQLite", "UpsurgeRecords"]),
    .target(name: "UpsurgePlan", dependencies: ["CScan", "CSQLite", "UpsurgeSQLite", "UpsurgeRecords"]),
    .target(name: "UpsurgeState", dependencies: ["CSQLite", "UpsurgePlan", "UpsurgeSQLite", "UpsurgeRecords"]),
    .target(
      name: "UpsurgeStorage",
      dependencies: ["CScan", "CSQLite", "UpsurgeState", "UpsurgePlan", "UpsurgeSQLite", "UpsurgeRecords"]),
    .target(
      name: "UpsurgeBulk",
      dependencies: ["UpsurgeStorage", "UpsurgePlan", "UpsurgeSQLite", "UpsurgeRecords"]),
    .target(
      name: "Upsurge",
      dependencies: [
        "UpsurgeRecords", "UpsurgeParsing", "UpsurgeInput", "UpsurgeSQLite", "UpsurgePlan", "UpsurgeState",
        "UpsurgeStorage",
        "UpsurgeBulk",
      ]),
    .target(
      name: "UpsurgeMirror",
      dependencies: [
        "Upsurge", "UpsurgeInput", "UpsurgeStorage", "UpsurgeState", "UpsurgePlan", "UpsurgeSQLite",
        "UpsurgeRecords",
      ]),
    // PostgreSQL as a store and as a source; libpq is loaded when a server is named.
    .target(
      name: "UpsurgePostgres",
      dependencies: [
        "CPostgres", "Upsurge", "UpsurgeInput", "UpsurgeParsing", "UpsurgeStorage", "UpsurgeState", "UpsurgeRecords",
      ]),
    // Whole databases from one kind of store to the other; knows both by protocols.
    .target(
      name: "UpsurgeMove",
      dependencies: [
        "Upsurge", "UpsurgePostgres", "UpsurgeInput", "UpsurgeState", "UpsurgeSQLite", "UpsurgeRecords",
      ]),
    // What `upsurge bench` measures; the library goes without.
    .target(
      name: "UpsurgeBench",
      dependencies: [
        "CSQLite", "Upsurge", "UpsurgeInput", "UpsurgeParsing", "UpsurgeSQLite", "UpsurgeRecords",
      ]),
    // What `upsurge bench postgres://…` measures: a server, by libpq and by the engine.
    .target(
      name: "UpsurgePostgresBench", dependencies: ["Upsurge", "UpsurgeBench", "UpsurgePostgres", "UpsurgeRecords"]),
    // Typed models; what `@Table` and its like write is made by a plugin of the compiler.
    .macro(
      name: "UpsurgeMacros",
      dependencies: [
        .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
        .product(name: "SwiftDiagnostics", package: "swift-syntax"),
        .product(name: "SwiftSyntax", package: "swift-syntax"),
        .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
        .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
      ]),
    .target(
      name: "UpsurgeModels",
      dependencies: [
        "UpsurgeMacros", "UpsurgeBulk", "UpsurgeStorage", "UpsurgeState", "UpsurgePlan", "UpsurgeSQLite",
        "UpsurgeRecords",
        "CSQLite",
      ]),
    .target(
      name: "UpsurgeGRDB",
      dependencies: [
        "UpsurgeModels", .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["GRDB"])),
      ]),
    // What the README and the articles show, compiled and run by the tests.
    .executableTarget(
      name: "UpsurgeExamples",
      dependencies: [
        "Upsurge", "UpsurgeModels", "UpsurgeMirror", "UpsurgeGRDB",
        .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["GRDB"])),
      ]),
    .executableTarget(name: "UpsurgeMain", dependencies: ["UpsurgeCommand"]),
    .target(
      name: "UpsurgeCommand",
      dependencies: [
        "CScan", "CYAML", "Upsurge", "UpsurgeBench", "UpsurgeMirror", "UpsurgeMove", "UpsurgePostgres", "UpsurgePostgresBench",
        "UpsurgeInput",
        "UpsurgeRecords",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),

    // Tests.
    .target(name: "FaultVFS", dependencies: ["CSQLite"], path: "Tests/FaultVFS"),
    // Threads for tests that wait; that it is linked is enough.
    .target(name: "TestThreads", path: "Tests/TestThreads", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    .target(
      name: "TestSupport", dependencies: ["FaultVFS", "TestThreads", "CSQLite", "CZlib", "CZstd"], path: "Tests/TestSupport",
      resources: [.copy("Fixtures")]),
    // Databases of the tests' own, and batches and rows as values.
    .target(
      name: "SQLiteSupport", dependencies: ["UpsurgePlan", "UpsurgeSQLite", "UpsurgeRecords", "CSQLite"],
      path: "Tests/SQLiteSupport"),
    // A PostgreSQL of the tests' own.
    .target(name: "PostgresSupport", path: "Tests/PostgresSupport"),
    // The slow, obvious parsers and the drivers that compare the fast ones with them.
    .target(
      name: "Oracles", dependencies: ["UpsurgeParsing", "UpsurgeRecords"], path: "Tests/Oracles"),
    // What the fuzzer runs; the tests run it on the corpus.
    .target(
      name: "FuzzTargets",
      dependencies: [
        "Upsurge", "UpsurgeInput", "UpsurgeParsing", "UpsurgeState", "UpsurgePlan", "UpsurgeSQLite",
        "UpsurgeRecords", "Oracles", "CScan", "CSQLite", "CZlib", "CZstd",
      ],
      path: "Tests/Fuzz/Targets"),
    .testTarget(name: "RaceTests", dependencies: ["Upsurge", "TestSupport"], exclude: ["tsan.supp"]),
    .testTarget(name: "FuzzTests", dependencies: ["FuzzTargets", "TestSupport"], path: "Tests/Fuzz/Tests"),
    .testTarget(name: "UpsurgeRecordsTests", dependencies: ["UpsurgeRecords", "TestSupport"]),
    .testTarget(
      name: "UpsurgeParsingTests",
      dependencies: ["TestSupport", "Oracles", "UpsurgeParsing", "UpsurgeRecords", "CScan", "CSQLite"],
      resources: [.copy("Fixtures")]),
    .testTarget(
      name: "UpsurgeMacrosTests",
      dependencies: [
        "UpsurgeMacros",
        .product(name: "SwiftParser", package: "swift-syntax"),
        .product(name: "SwiftSyntax", package: "swift-syntax"),
        .product(name: "SwiftSyntaxMacroExpansion", package: "swift-syntax"),
        .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
        .product(name: "SwiftSyntaxMacrosGenericTestSupport", package: "swift-syntax"),
      ],
      exclude: ["Snapshots"]),
    // Files and models are compared in them.
    .testTarget(
      name: "UpsurgeModelsTests", dependencies: ["UpsurgeModels", "Upsurge", "TestSupport"]),
    .testTarget(
      name: "UpsurgeGRDBTests",
      dependencies: [
        "UpsurgeGRDB", "TestSupport",
        .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["GRDB"])),
      ]),
    .testTarget(name: "UpsurgeExamplesTests", dependencies: ["UpsurgeExamples", "TestSupport"]),
    .testTarget(name: "UpsurgeInputTests", dependencies: ["UpsurgeInput", "UpsurgeRecords", "TestSupport"]),
    .testTarget(
      name: "UpsurgeSQLiteTests",
      dependencies: ["UpsurgeSQLite", "UpsurgeRecords", "SQLiteSupport", "TestSupport", "CSQLite"]),
    .testTarget(
      name: "UpsurgePlanTests", dependencies: ["UpsurgePlan", "UpsurgeSQLite", "UpsurgeRecords", "SQLiteSupport"]),
    .testTarget(
      name: "UpsurgeStateTests",
      dependencies: ["UpsurgeState", "UpsurgePlan", "UpsurgeSQLite", "UpsurgeRecords", "SQLiteSupport", "TestSupport"]),
    .testTarget(
      name: "UpsurgeStorageTests",
      dependencies: [
        "UpsurgeStorage", "UpsurgeState", "UpsurgePlan", "UpsurgeSQLite", "UpsurgeRecords", "SQLiteSupport",
        "TestSupport", "CScan", "CSQLite",
      ]),
    .testTarget(name: "UpsurgeBenchTests", dependencies: ["UpsurgeBench", "Upsurge", "TestSupport"]),
    .testTarget(
      name: "UpsurgeBulkTests",
      dependencies: ["UpsurgeBulk", "UpsurgeRecords", "UpsurgePlan", "UpsurgeSQLite", "TestSupport"]),
    .testTarget(
      name: "UpsurgePostgresTests",
      dependencies: [
        "CPostgres", "Upsurge", "UpsurgeInput", "UpsurgeMirror", "UpsurgePostgres", "UpsurgePostgresBench", "UpsurgeState",
        "UpsurgeRecords", "PostgresSupport", "TestSupport",
      ]),
    .testTarget(
      name: "UpsurgeMoveTests",
      dependencies: [
        "UpsurgeMove", "UpsurgePostgres", "Upsurge", "UpsurgeRecords", "PostgresSupport", "TestSupport",
      ]),
    // Disks that fail, processes that are killed, thousands of seeds; .ci/fixed-parts says how many each change tries.
    .testTarget(
      name: "SlowTests", dependencies: ["Upsurge", "UpsurgeMirror", "PostgresSupport", "TestSupport", "CSQLite"]),
    // What the package's own files say: arrows between modules and folders, words of the documentation, hints.
    .testTarget(name: "SourceTreeTests", dependencies: ["Upsurge", "TestSupport"]),
    .testTarget(
      name: "UpsurgeTests",
      dependencies: [
        "Upsurge", "UpsurgeInput", "UpsurgeParsing", "UpsurgeStorage", "UpsurgeState", "UpsurgePlan",
        "UpsurgeSQLite", "UpsurgeRecords", "UpsurgePostgres", "PostgresSupport", "TestSupport",
        "CSQLite",
      ],
      exclude: ["Gates/counts.json"]),
    .testTarget(
      name: "UpsurgeMirrorTests",
      dependencies: [
        "UpsurgeMirror", "Upsurge", "UpsurgeStorage", "UpsurgeState", "UpsurgePlan", "UpsurgeSQLite",
        "UpsurgeRecords", "TestSupport",
      ],
      exclude: ["Fixtures"]),
    // The command: its options, job files, words, and all that is run as a process.
    .testTarget(
      name: "UpsurgeCommandTests",
      dependencies: [
        "UpsurgeCommand", "UpsurgeMirror", "Upsurge", "UpsurgeInput", "UpsurgeRecords", "TestSupport", "CSQLite",
      ],
      resources: [.copy("Fixtures")]),
  ],
  swiftLanguageModes: [.v6]
)

// Parts of the package, for who needs no more:
//
//     UPSURGE_PART=command   without what needs swift-syntax, which takes minutes to build
//     UPSURGE_PART=models    the models, their tests and the examples
//     UPSURGE_PART=races     the engine and the tests of its threads, for a sanitizer, which has to build everything anew
if let part = Context.environment["UPSURGE_PART"] {
  let modelTargets = ["UpsurgeMacros", "UpsurgeModels", "UpsurgeGRDB", "UpsurgeExamples"]
  let modelTests = modelTargets.map { $0 + "Tests" }
  let commandTargets = [
    "CYAML", "CPostgres", "UpsurgeMain", "UpsurgeCommand", "UpsurgeBench", "UpsurgeMove", "UpsurgePostgres",
    "UpsurgePostgresBench", "PostgresSupport", "SQLiteSupport", "FuzzTargets", "Oracles",
  ]
  let dropped: (Target) -> Bool =
    switch part {
    case "command": { (modelTargets + modelTests).contains($0.name) }
    case "models": { commandTargets.contains($0.name) || $0.type == .test && !modelTests.contains($0.name) }
    case "races":
      {
        (commandTargets + modelTargets + ["UpsurgeMirror"]).contains($0.name)
          || $0.type == .test && $0.name != "RaceTests"
      }
    default: fatalError("UPSURGE_PART is command, models or races")
    }
  package.targets.removeAll(where: dropped)
  if part == "command" {
    package.products.removeAll { modelTargets.contains($0.name) }
    package.traits = []
    package.dependencies.removeLast(2)
  } else {
    package.products = []
    package.dependencies = part == "models" ? Array(package.dependencies.suffix(2)) : []
    if part == "races" { package.traits = [] }
  }
}

// Needs the fuzzer's runtime and instrumented code: only Tests/Fuzz/run builds it.
if Context.environment["UPSURGE_FUZZ"] != nil {
  package.targets += [
    .systemLibrary(name: "CLibFuzzer", path: "Tests/Fuzz/LibFuzzer"),
    .executableTarget(name: "Fuzz", dependencies: ["FuzzTargets", "CLibFuzzer"], path: "Tests/Fuzz/Runner"),
  ]
}
