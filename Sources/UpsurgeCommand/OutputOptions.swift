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

  /// Writes the JSON summary where it is wanted.
  /// - Returns: false when the file cannot be written, which has been said.
  func write(summary bytes: [UInt8]) throws -> Bool {
    guard let summary else { return true }
    let descriptor = summary == "-"
      ? STDOUT_FILENO : open(summary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor < 0 {
      Terminal.say("upsurge: cannot create the summary \(summary): \(String(cString: strerror(errno)))\n")
      return false
    }
    defer { if summary != "-" { close(descriptor) } }
    if Terminal.write(bytes, to: descriptor) { return true }
    Terminal.say("upsurge: cannot write the summary \(summary): \(String(cString: strerror(errno)))\n")
    return false
  }
}

/// When the progress line is shown.
enum ProgressPolicy: String, CaseIterable, ExpressibleByArgument {
  case auto, always, never
}
