import ArgumentParser
import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The options that say what people and programs see of a run.
struct OutputOptions: ParsableArguments {
  @Option(help: "Write a JSON summary to this file; - for standard output.")
  var summary: String?

  @Flag(name: [.customShort("q"), .customLong("quiet")], help: "Say nothing but errors.")
  var isQuiet = false

  @Flag(name: [.customShort("v"), .customLong("verbose")], help: "Say more.")
  var isVerbose = false

  @Option(help: "auto (on a terminal), always or never.")
  var progress: ProgressPolicy = .auto

  /// Opens the summary before the run, so that a path that cannot be written costs nothing.
  /// - Throws: `cannotCreate`.
  func openSummary() throws(UpsurgeError) -> SummaryFile? {
    try summary.map { (path) throws(UpsurgeError) in try SummaryFile(opening: path) }
  }
}

/// The file of `--summary`.
struct SummaryFile {
  let path: String
  let descriptor: Int32

  /// Makes the file; `-` is standard output.
  /// - Throws: `cannotCreate`.
  init(opening path: String) throws(UpsurgeError) {
    self.path = path
    if path == "-" {
      descriptor = STDOUT_FILENO
      return
    }
    descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor < 0 {
      throw UpsurgeError(
        .cannotCreate, "cannot create the summary \(path): \(String(cString: strerror(errno)))",
        hint: "give another path to --summary", underlyingCode: errno)
    }
  }

  /// Replaces what the file holds.
  /// - Returns: false when the system refuses, which has been said.
  func write(_ bytes: [UInt8]) -> Bool {
    if path != "-" { ftruncate(descriptor, 0) }
    if Terminal.write(bytes, to: descriptor) { return true }
    Terminal.say("upsurge: cannot write the summary \(path): \(String(cString: strerror(errno)))\n")
    return false
  }
}

/// When the progress line is shown.
enum ProgressPolicy: String, CaseIterable, ExpressibleByArgument {
  case auto, always, never
}
