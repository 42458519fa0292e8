import Foundation
import TestSupport
import Testing

@testable import UpsurgeCommand

/// What people read of the options, whole: a change of the command's help or of the schema of job files is seen as such.
///
/// A change that is meant is recorded with `UPSURGE_RECORD=1 swift test --filter HelpTests`.
@Suite("The help of each command")
struct HelpTests {
  private static let folder =
    (#filePath.split(separator: "/").dropLast().map { "/" + $0 }).joined() + "/Fixtures/Help/"

  private func compare(_ text: String, with name: String) throws {
    if ProcessInfo.processInfo.environment["UPSURGE_RECORD"] != nil {
      try text.write(toFile: Self.folder + name, atomically: true, encoding: .utf8)
    }
    let kept = try String(decoding: readFile(Self.folder + name), as: UTF8.self)
    let (lines, keptLines) = (text.components(separatedBy: "\n"), kept.components(separatedBy: "\n"))
    for (index, line) in keptLines.enumerated() where index >= lines.count || lines[index] != line {
      Issue.record(
        "\(name), line \(index + 1): \(index < lines.count ? lines[index] : "missing"), was \(line)")
      break
    }
    #expect(text == kept)
  }

  @Test(
    "It is what was recorded",
    arguments: [
      [], ["load"], ["mirror"], ["mirror", "init"], ["inspect"], ["runs"], ["replay"], ["status"],
      ["migrate-keys"], ["bench"],
    ])
  func help(words: [String]) throws {
    let outcome = try Command.run(words + ["--help"], script: "COLUMNS=80 exec \"$0\" \"$@\"")
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    try compare(outcome.output, with: (words.isEmpty ? "upsurge" : words.joined(separator: "-")) + ".txt")
  }

  @Test("So is the help that also shows hidden options")
  func hidden() throws {
    let outcome = try Command.run(["load", "--help-hidden"], script: "COLUMNS=80 exec \"$0\" \"$@\"")
    try compare(outcome.output, with: "load-hidden.txt")
  }

  @Test("So is the schema of job files")
  func schema() throws { try compare(JobSchema.text, with: "job-schema.json") }
}
