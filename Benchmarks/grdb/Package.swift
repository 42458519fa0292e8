// swift-tools-version: 6.1
import PackageDescription

// A package of its own, because only this peer needs GRDB: `swift build` of the others fetches nothing.
let package = Package(
  name: "upsurge-benchmarks-grdb",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.0.0")
  ],
  targets: [
    .executableTarget(name: "grdb", dependencies: [.product(name: "GRDB", package: "GRDB.swift")])
  ],
  swiftLanguageModes: [.v6]
)
