import Foundation
import Testing
import UpsurgeRecords

/// Words that are pasted into a shell.
@Suite("Words for a shell")
struct ShellTextTests {
  @Test(
    "A shell reads back what was quoted, and a terminal shows it",
    arguments: [
      "plain.csv", "", "two words", "it's", "a'\u{301}; touch PWNED; '\u{301}.csv", "$HOME `x` \"y\" \\",
      "new\nline",
      "tab\tand\u{1B}[1m", "\u{202E}right to left", "\u{85}\u{9B}1m", "-x", "=ls", "é ü", "'", "''", "\\'\n",
    ])
  func readBack(_ text: String) throws {
    let word = text.quotedForShell
    #expect(word.escapedForTerminal.utf8.elementsEqual(word.utf8))
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/bash")
    shell.arguments = ["-c", "printf %s \(word)x"]
    let output = Pipe()
    shell.standardOutput = output
    try shell.run()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    shell.waitUntilExit()
    #expect(Array(bytes) == Array((text + "x").utf8), "\(word)")
  }
}
