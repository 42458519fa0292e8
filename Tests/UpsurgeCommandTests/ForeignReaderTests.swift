import Foundation
import TestSupport
import Testing
import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Commands that read, run by somebody who may not write: they leave no file, and say by one exit code that they cannot.
@Suite(
  "Databases of somebody else", .enabled(if: Visitor.isPossible, "needs root and setpriv(1)"))
struct ForeignReaderTests {
  let scratch = Scratch()
  private var path: String { scratch.file("open/a.db") }

  /// A database with a run and a feed, in a folder that others may write to (`isOpen`), or not.
  private func prepare(isOpen: Bool) throws {
    let folder = scratch.file("open")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    _ = scratch.write("id,v\n1,a\n", to: "open/feed.csv")
    let job = scratch.write("tables: { t: { source: feed.csv, key: id } }\n", to: "open/job.yaml")
    #expect(try Command.run(["mirror", path, job]).exitCode == 0)
    for place in [scratch.file("."), folder] { chmod(place, isOpen ? 0o777 : 0o755) }
  }

  private func files() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: scratch.file("open")).filter { $0.hasPrefix("a.db") }
      .sorted()
  }

  /// Runs the command as nobody.
  private func visit(_ arguments: [String]) throws -> (code: Int32, talk: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
    process.arguments = ["--reuid=65534", "--regid=65534", "--clear-groups", Command.path] + arguments
    let pipe = Pipe()
    (process.standardError, process.standardOutput) = (pipe, FileHandle.nullDevice)
    try process.run()
    let talk = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: talk, as: UTF8.self))
  }

  @Test("Nothing is left beside a database that nobody is at work on", arguments: [true, false])
  func quiet(isOpen: Bool) throws {
    try prepare(isOpen: isOpen)
    #expect(try files() == ["a.db"])
    for command in ["status", "runs", "inspect"] {
      let outcome = try visit([command, path])
      #expect(outcome.code == 0, "\(command): \(outcome.talk)")
      #expect(try files() == ["a.db"], "\(command)")
    }
    // Its owner goes on as before.
    try Database(path).rows("INSERT INTO t VALUES (2, 'b')")
  }

  @Test(
    "Rows in the log of a program at work are read, and the files stay its own", arguments: [true, false])
  func busy(isOpen: Bool) throws {
    try prepare(isOpen: isOpen)
    let child = Process()
    child.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
    guard access("/usr/bin/sqlite3", X_OK) == 0 else { return }
    child.arguments = [path]
    let input = Pipe()
    child.standardInput = input
    try child.run()
    input.fileHandleForWriting.write(Data("CREATE TABLE later(x);\n".utf8))
    for _ in 0..<500 where try files().count < 3 { usleep(10_000) }
    for command in ["status", "runs", "inspect"] {
      let outcome = try visit([command, path])
      #expect(outcome.code == 0, "\(command): \(outcome.talk)")
      for file in try files() {
        var status = stat()
        #expect(stat(scratch.file("open/" + file), &status) == 0 && status.st_uid == 0, "\(command): \(file)")
      }
    }
    // A log without its index: only the owner can read it.
    chmod(path + "-shm", 0o600)
    let refused = try visit(["status", path])
    #expect(
      refused.code == 66 && refused.talk.contains("its newest rows are in the log beside it"),
      "\(refused.talk)")
    try input.fileHandleForWriting.close()
    child.waitUntilExit()
  }

  @Test("What may not be read is exit code 66")
  func unreadable() throws {
    try prepare(isOpen: true)
    chmod(path, 0o600)
    for command in ["status", "runs"] {
      let outcome = try visit([command, path])
      #expect(outcome.code == 66, "\(command): \(outcome.talk)")
      #expect(
        outcome.talk
          == "upsurge: cannot read the database \(path): Permission denied\n  fix: its owner can give you the right to read it\n",
        "\(command)")
      #expect(try files() == ["a.db"])
    }
  }
}

/// Somebody who may not write what root has made.
private enum Visitor {
  static let isPossible = geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0
}
