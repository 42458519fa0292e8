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
    .executable(name: "copyfloor", targets: ["copyfloor"]),
  ],
  targets: [
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .systemLibrary(
      name: "CZstd", pkgConfig: "libzstd",
      providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
    .systemLibrary(
      name: "CPQ", pkgConfig: "libpq",
      providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    .target(name: "Shapes"),
    .target(name: "Reader", dependencies: ["Shapes"]),
    .executableTarget(name: "generate", dependencies: ["Shapes"]),
    .executableTarget(
      name: "floor", dependencies: ["CSQLite", "CZstd", "Shapes", "Reader"],
      linkerSettings: [.linkedLibrary("sqlite3"), .linkedLibrary("zstd")]),
    .executableTarget(
      name: "digest", dependencies: ["CSQLite"], linkerSettings: [.linkedLibrary("sqlite3")]),
    .executableTarget(name: "kernels"),
    .executableTarget(name: "spawn"),
    .executableTarget(
      name: "copyfloor", dependencies: ["CPQ", "Shapes", "Reader"], linkerSettings: [.linkedLibrary("pq")]),
  ]
)
