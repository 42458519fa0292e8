import Foundation

/// Runs the built `upsurge` as a child process.
enum Command {
  /// The command lies beside the test program.
  static let path: String = {
    let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    var folder = URL(fileURLWithPath: program).deletingLastPathComponent()
    while folder.path != "/" {
      let candidate = folder.appendingPathComponent("upsurge").path
      if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
      folder.deleteLastPathComponent()
    }
    return "upsurge"
  }()

  struct Outcome {
    var exitCode: Int32
    var output: String
    var talk: String
  }

  /// Runs the command to its end with `input` on its standard input.
  static func run(_ arguments: [String], input: [UInt8] = [], folder: String? = nil) throws -> Outcome {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
    let (standardInput, standardOutput, standardError) = (Pipe(), Pipe(), Pipe())
    process.standardInput = standardInput
    process.standardOutput = standardOutput
    process.standardError = standardError
    try process.run()
    let feeder = Thread {
      try? standardInput.fileHandleForWriting.write(contentsOf: Data(input))
      try? standardInput.fileHandleForWriting.close()
    }
    feeder.start()
    let talkBox = Box()
    let talkReader = DispatchQueue(label: "talk")
    talkReader.async { talkBox.data = standardError.fileHandleForReading.readDataToEndOfFile() }
    let output = standardOutput.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    talkReader.sync {}
    return Outcome(
      exitCode: process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus,
      output: String(decoding: output, as: UTF8.self), talk: String(decoding: talkBox.data, as: UTF8.self))
  }

  private final class Box: @unchecked Sendable {
    // Sendable because the queue's `sync` orders its one write before its one read.
    var data = Data()
  }
}
