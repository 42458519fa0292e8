import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A load of a file that is held up while it packs: nothing of it is there but the image.
package struct SlowPacking {
  /// The process of the load.
  package let child: Command.Child
  /// The file that it loads.
  package let source: String
  /// Rows of the file.
  package static let rowCount = 300_000

  /// Starts a load into the table `t`, and stops its process when it has written pages.
  /// - Throws: where it is done before.
  package init(_ path: String, _ scratch: Scratch, _ options: [String] = []) throws {
    let text = "id,b\n" + (0..<Self.rowCount).map { "\($0),row \($0) \($0 % 7)\n" }.joined()
    source = scratch.write(text, to: "slow.csv")
    child = try Command.start(["load", path, "t", source, "--direct", "always"] + options)
    for _ in 0..<30_000 {
      var status = stat()
      if stat(path + "-upsurge", &status) == 0 && status.st_size > 1 << 20 { break }
      usleep(1_000)
    }
    child.send(signal: SIGSTOP)
    // Until it stands still.
    usleep(50_000)
    try #require(access(path + "-upsurge", F_OK) == 0 && access(path, F_OK) != 0)
  }

  /// Lets it go on to its end.
  package func finish() throws -> Command.Outcome {
    child.send(signal: SIGCONT)
    return try child.finish()
  }
}
