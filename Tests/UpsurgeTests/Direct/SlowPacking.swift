import TestSupport
import Testing

@testable import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A load of a file that is held up while it packs: nothing of it is there but the image.
struct SlowPacking {
  let child: Command.Child
  let source: String
  static let rowCount = 300_000

  /// Starts a load into the table `t`, and stops its process when it has written pages.
  /// - Throws: where it is done before.
  init(_ path: String, _ scratch: Scratch, _ options: [String] = []) throws {
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
  func finish() throws -> Command.Outcome {
    child.send(signal: SIGCONT)
    return try child.finish()
  }
}
