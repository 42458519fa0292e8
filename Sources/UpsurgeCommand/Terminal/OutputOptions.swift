import ArgumentParser
import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The options that say what people and programs see of a run.
struct OutputOptions: ParsableArguments {
  @Option(.summary) var summary: String?

  @Flag(.quiet) var isQuiet = false

  @Flag(.verbose) var isVerbose = false

  @Option(.progress) var progress: ProgressPolicy = .auto

  /// Opens the summary before the run, so that a path that cannot be written costs nothing.
  /// - Throws: `cannotCreate`.
  func openSummary() throws(UpsurgeError) -> SummaryFile? {
    try summary.map { (path) throws(UpsurgeError) in try SummaryFile(opening: path) }
  }
}

/// The file of `--summary`, or of another option whose file is written at the end.
struct SummaryFile {
  let path: String
  let descriptor: Int32
  private let noun: String

  /// Makes the file; `-` is standard output.
  /// - Parameter noun: what the file is, for messages.
  /// - Throws: `cannotCreate`.
  init(opening path: String, option: Wording = "\(.summary)", noun: String = "summary") throws(UpsurgeError) {
    self.path = path
    self.noun = noun
    if path == "-" {
      descriptor = STDOUT_FILENO
      return
    }
    descriptor = try OutputDescriptor(path: path, option: option).descriptor
  }

  /// Writes the summary.
  /// - Returns: false when the system refuses, which has been said.
  func write(_ bytes: [UInt8]) -> Bool {
    if Terminal.write(bytes, to: descriptor) { return true }
    let reason = String(cString: strerror(errno))
    Terminal.say("upsurge: cannot write the \(noun) \(Terminal.visible(path)): \(reason)\n")
    return false
  }
}
