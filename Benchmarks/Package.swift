// swift-tools-version: 6.1
import PackageDescription

// Generator, floor and digest in plain C: nothing here depends on the engine that is measured.
let package = Package(
  name: "upsurge-benchmarks",
  products: [
    .executable(name: "generate", targets: ["generate"]),
    .executable(name: "floor", targets: ["floor"]),
    .executable(name: "digest", targets: ["digest"]),
  ],
  targets: [
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .target(name: "Shapes"),
    .executableTarget(name: "generate", dependencies: ["Shapes"]),
    .executableTarget(
      name: "floor", dependencies: ["CSQLite", "Shapes"], linkerSettings: [.linkedLibrary("sqlite3")]),
    .executableTarget(
      name: "digest", dependencies: ["CSQLite"], linkerSettings: [.linkedLibrary("sqlite3")]),
  ]
)
