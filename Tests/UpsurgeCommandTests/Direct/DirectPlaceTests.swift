import Foundation
import TestSupport
import Testing

@testable import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Where a database is to be: the same comes of it with and without packing.
@Suite("Places of direct loads")
struct DirectPlaceTests {
  let scratch = Scratch()

  /// Prepares a folder, and what is loaded in there by a shell: `"$0"` is the command, `"$@"` the arguments in front of
  /// the database.
  private struct Place: Sendable {
    var name: String
    /// In an empty folder with `in.csv`.
    var script: String
    /// Where the rows are then, if they are anywhere.
    var database = "a.db"
    var fails = false

    init(_ name: String, _ script: String, database: String = "a.db", fails: Bool = false) {
      (self.name, self.script, self.database, self.fails) = (name, script, database, fails)
    }
  }

  private static let places: [Place] = [
    Place("a relative path", #"exec "$0" "$@" a.db t in.csv"#),
    Place("a path with a dot", #"exec "$0" "$@" ./a.db t in.csv"#),
    Place("a name like a URI", #"exec "$0" "$@" file:a.db t in.csv"#, database: "file:a.db"),
    Place("a name with spaces and quotes", #"exec "$0" "$@" "a 'b\".db" t in.csv"#, database: "a 'b\".db"),
    Place("a umask of nobody else", #"umask 077; exec "$0" "$@" a.db t in.csv"#),
    Place("a umask of the group", #"umask 002; exec "$0" "$@" a.db t in.csv"#),
    Place("a link to what is not there", #"ln -s b.db a.db; exec "$0" "$@" a.db t in.csv"#),
    Place("a link into another folder", #"mkdir b; ln -s b/b.db a.db; exec "$0" "$@" a.db t in.csv"#),
    Place(
      "a folder that is a link", #"mkdir b; ln -s b c; exec "$0" "$@" c/a.db t in.csv"#, database: "b/a.db"),
    Place("an empty file", #": >a.db; exec "$0" "$@" a.db t in.csv"#),
    Place("an old journal", #"yes old | head -c 9000 >a.db-journal; exec "$0" "$@" a.db t in.csv"#),
    Place("an old log", #"yes old | head -c 9000 >a.db-wal; exec "$0" "$@" a.db t in.csv"#),
    Place("an old index of a log", #"yes old | head -c 32768 >a.db-shm; exec "$0" "$@" a.db t in.csv"#),
    Place("a folder in the way", #"mkdir a.db-upsurge; exec "$0" "$@" a.db t in.csv"#),
    Place("a file in the way", #"echo mine >a.db-upsurge; exec "$0" "$@" a.db t in.csv"#),
    Place("a link in the way", #"ln -s /nowhere a.db-upsurge; exec "$0" "$@" a.db t in.csv"#),
    Place("a pipe in the way", #"mkfifo a.db-upsurge; exec "$0" "$@" a.db t in.csv"#),
    Place(
      "a name as long as names can be",
      #"exec "$0" "$@" "$(printf '%0245d' 7)" t in.csv"#, database: String(repeating: "0", count: 244) + "7"),
    Place("a folder that is not there", #"exec "$0" "$@" b/a.db t in.csv"#, fails: true),
    Place("a folder", #"mkdir a.db; exec "$0" "$@" a.db t in.csv"#, fails: true),
    Place(
      "a link to a folder that is not there", #"ln -s b/a.db a.db; exec "$0" "$@" a.db t in.csv"#, fails: true
    ),
    Place("a link to itself", #"ln -s a.db a.db; exec "$0" "$@" a.db t in.csv"#, fails: true),
  ]

  @Test("The same comes of every place", arguments: places.indices)
  func same(index: Int) throws {
    let place = Self.places[index]
    var (talks, files, codes): ([String], [[String]], [Int32]) = ([], [], [])
    for policy in ["never", "always"] {
      let folder = scratch.file("at")
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let text = "id,b\n" + (0..<500).map { "\($0),x\n" }.joined()
      _ = scratch.write(text, to: "at/in.csv")
      let outcome = try Command.run(
        ["load", "--direct", policy], script: #"cd "\#(folder)"; "# + place.script)
      codes.append(outcome.exitCode)
      talks.append(Self.withoutTimes(outcome.talk))
      files.append(try Self.listing(folder))
      guard outcome.exitCode == 0 else { continue }
      let database = Database(folder + "/" + place.database)
      #expect(try database.rows("SELECT count(*), count(DISTINCT id) FROM t") == ["500|500"])
      #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"])
    }
    #expect(codes[0] == codes[1] && talks[0] == talks[1], "\(place.name): \(codes) \(talks)")
    #expect(files[0] == files[1], "\(place.name): \(files)")
    #expect((codes[0] != 0) == place.fails, "\(place.name): \(talks)")
  }

  /// Names, kinds and rights of all that lies in a folder.
  private static func listing(_ folder: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder).sorted().map { name in
      var status = stat()
      lstat(folder + "/" + name, &status)
      return "\(name) \(String(status.st_mode, radix: 8))"
    }
  }

  /// The talk without the line that has seconds in it.
  private static func withoutTimes(_ talk: String) -> String {
    talk.split(separator: "\n").filter { !$0.contains(" records read in ") }.joined(separator: "\n")
  }
}
