// swift-tools-version: 6.1
import PackageDescription

// A package of its own, because only this measure needs the engine as a library, its macros and GRDB.
let package = Package(
  name: "upsurge-benchmarks-models",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "upsurge", path: "../.."),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    .executableTarget(
      name: "models",
      dependencies: [
        .product(name: "UpsurgeModels", package: "upsurge"), .product(name: "GRDB", package: "GRDB.swift"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
