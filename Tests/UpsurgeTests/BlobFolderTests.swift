import Foundation
import TestSupport
import Testing
import Upsurge

/// Files that records name, and records that name files they should not.
@Suite("BLOB folder")
struct BlobFolderTests {
  let scratch = Scratch()

  /// A folder `in` with an input, and things in it and beside it.
  private func load(_ paths: [String], folder: String? = nil) throws -> [String] {
    for name in ["in", "in/sub", "input"] { mkdir(scratch.file(name), 0o700) }
    _ = scratch.write("secret", to: "secret")
    _ = scratch.write("secret", to: "input/x")
    _ = scratch.write("fine", to: "in/fine")
    _ = scratch.write("deep", to: "in/sub/deep")
    symlink(scratch.file("secret"), scratch.file("in/link"))
    symlink(scratch.path, scratch.file("in/up"))
    mkfifo(scratch.file("in/pipe"), 0o600)
    let lines = try paths.map { path in
      String(decoding: try JSONSerialization.data(withJSONObject: ["b": path]), as: UTF8.self)
    }
    let source = scratch.write(lines.joined(separator: "\n"), to: "in/feed.ndjson")
    var options = LoadOptions()
    options.table.blobEncoding = .file
    options.table.blobFolder = folder
    options.table.types = ["b": "BLOB"]
    options.rejects.onError = .reject
    let path = scratch.file("a.db")
    let summary = LoadJob(database: path, table: "t", sources: [source], options: options).run()
    #expect(summary.ledger.inserted + summary.ledger.rejected == UInt64(paths.count))
    return summary.ledger.inserted == 0 ? [] : try Database(path).rows("SELECT CAST(b AS TEXT) FROM t")
  }

  @Test(
    "Records name files of the input's folder only",
    arguments: [
      "../secret", "sub/../../secret", "/etc/passwd", "ABS/secret", "link", "up/secret", "pipe", "/dev/zero",
      "../input/x", "ABS/input/x", "..", "", "/", "ABS/in/../secret", "sub/..\u{2044}../secret", "ABS/in",
      "../\u{301}secret", "sub/\u{301}../../secret",
    ])
  func outside(path: String) throws {
    #expect(try load([path.replacingOccurrences(of: "ABS", with: scratch.path)]) == [])
  }

  @Test("Whatever way they are named")
  func inside() throws {
    let paths = ["fine", "./fine", "sub/deep", "sub/../fine", "sub//deep", scratch.file("in/sub/deep")]
    #expect(try load(paths) == ["'fine'", "'fine'", "'deep'", "'fine'", "'deep'", "'deep'"])
  }

  @Test("--blob-folder names another one")
  func folder() throws {
    #expect(
      try load(["secret", "in/fine", "in/../secret", "../x"], folder: scratch.path) == [
        "'secret'", "'fine'", "'secret'",
      ])
    let source = scratch.write("b\nin/fine\n", to: "x.csv")
    let command = ["load", scratch.file("c.db"), "t", source, "--blob-folder", scratch.path]
    #expect(try Command.run(command).exitCode == 64)
    #expect(try Command.run(command + ["--blob", "file", "--type", "b:BLOB"]).exitCode == 0)
    #expect(try Database(scratch.file("c.db")).rows("SELECT CAST(b AS TEXT) FROM t") == ["'fine'"])
  }
}
