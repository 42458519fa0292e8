// swift-tools-version: 6.1
import PackageDescription

// Generator, floor and digest in plain C: nothing of them depends on the engine that is measured. `kernels` includes
// the engine's C headers, and nothing else of it.
let package = Package(
  name: "upsurge-benchmarks",
  products: [
    .executable(name: "generate", targets: ["generate"]),
    .executable(name: "floor", targets: ["floor"]),
    .executable(name: "digest", targets: ["digest"]),
    .executable(name: "kernels", targets: ["kernels"]),
    .executable(name: "spawn", targets: ["spawn"]),
  ],
  targets: [
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .systemLibrary(
      name: "CZstd", pkgConfig: "libzstd",
      providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
    .target(name: "Shapes"),
    .executableTarget(name: "generate", dependencies: ["Shapes"]),
    .executableTarget(
      name: "floor", dependencies: ["CSQLite", "CZstd", "Shapes"],
      linkerSettings: [.linkedLibrary("sqlite3"), .linkedLibrary("zstd")]),
    .executableTarget(
      name: "digest", dependencies: ["CSQLite"], linkerSettings: [.linkedLibrary("sqlite3")]),
    .executableTarget(name: "kernels"),
    .executableTarget(name: "spawn"),
  ]
)
