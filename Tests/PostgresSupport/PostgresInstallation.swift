import Foundation

/// The programs of one version of PostgreSQL.
public struct PostgresInstallation: Sendable, Hashable, CustomStringConvertible {
  /// The folder of its programs.
  let folder: String
  /// `15.20`; empty where the folder has no such programs, which a test that starts it finds out.
  public let version: String

  public var majorVersion: Int { version.split(separator: ".").first.flatMap { Int($0) } ?? 0 }
  public var description: String { version.isEmpty ? "no PostgreSQL in \(folder)" : "PostgreSQL \(version)" }

  private init(folder: String) {
    self.folder = folder
    version = Self.version(in: folder)
  }

  static let all: [PostgresInstallation] = {
    let root = "/usr/lib/postgresql"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    let own = versions.map { "\(root)/\($0)/bin" } + ["/opt/homebrew/opt/postgresql@15/bin", "/usr/bin"]
    let found = own.filter { isExecutable("initdb", in: $0) && isExecutable("postgres", in: $0) }.map {
      PostgresInstallation(folder: $0)
    }
    // Whoever names a folder wants to see it tested, or to hear why not.
    return named("UPSURGE_POSTGRES") + found.sorted { $0.majorVersion > $1.majorVersion } + named("UPSURGE_POSTGRES_BIN")
  }()

  /// Installations in the folders that a variable names, with colons between them.
  private static func named(_ variable: String) -> [PostgresInstallation] {
    let folders = (ProcessInfo.processInfo.environment[variable] ?? "").split(separator: ":")
    return folders.map { PostgresInstallation(folder: String($0)) }
  }

  private static func isExecutable(_ program: String, in folder: String) -> Bool {
    FileManager.default.isExecutableFile(atPath: folder + "/" + program)
  }

  /// `postgres (PostgreSQL) 15.20 (Debian 15.20-0+deb12u1)`.
  private static func version(in folder: String) -> String {
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: folder + "/postgres")
    process.arguments = ["--version"]
    process.standardOutput = output
    guard isExecutable("postgres", in: folder), (try? process.run()) != nil else { return "" }
    let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let words = said.split { $0 == " " || $0 == "\n" }
    return words.count > 2 && words[1] == "(PostgreSQL)" ? String(words[2]) : ""
  }
}
