import Foundation
import TestSupport
import Testing

/// A page whose examples are run from top to bottom.
///
/// In a block marked `console`, a line that begins with `$ ` is what a reader types, lines after it that begin with `> ` go on
/// with it, and the other lines are what is printed. Each section begins in a fresh folder, or the whole page is one:
///
///     <!-- one folder -->            on a line of its own: all sections share a folder
///     <!-- setup: ... -->            runs what the reader need not see
///     <!-- file: job.yaml -->        the block that follows is written to this file
struct ManualPage: CustomTestStringConvertible, Sendable {
  /// From the root of the package.
  var name: String

  var testDescription: String { name }

  /// A command whose output is not what the page says.
  struct Difference: CustomStringConvertible {
    var line: Int
    var command: String
    var expected: [String]
    var found: [String]

    var description: String {
      "line \(line): $ \(command)\n--- the page\n\(expected.joined(separator: "\n"))\n"
        + "--- printed\n\(found.joined(separator: "\n"))"
    }
  }

  private struct Command {
    var line: Int
    /// As they stand in the page.
    var lines: [String]
    var text: String
    var output: [String] = []
  }

  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Programs that not every machine has; a section that calls one of them is passed over where it is missing.
  static let optionalPrograms = ["sqlite3", "iconv"]

  /// Runs all blocks.
  /// - Returns: what differs, and the page with what was printed; of sections whose programs are missing here, the titles.
  func run() throws -> (differences: [Difference], page: String, passedOver: [String]) {
    let lines = try String(contentsOf: Self.root.appendingPathComponent(name), encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let isOneFolder = lines.contains("<!-- one folder -->")
    var differences: [Difference] = []
    var page: [String] = []
    var folder = try ManualFolder()
    var isPassedOver = false
    var passedOver: [String] = []
    var at = 0
    /// The lines up to the one that ends with a text, which is taken, too.
    func take(to end: String) -> ArraySlice<String> {
      let last = lines[at...].firstIndex { $0.hasSuffix(end) } ?? lines.endIndex - 1
      defer { at = last + 1 }
      return lines[at...last]
    }
    while at < lines.endIndex {
      let line = lines[at]
      if line.hasPrefix("## ") {
        if !isOneFolder { folder = try ManualFolder() }
        isPassedOver = !Self.hasPrograms(for: lines[(at + 1)...].prefix { !$0.hasPrefix("## ") })
        if isPassedOver { passedOver.append(line) }
      }
      if line.hasPrefix("<!-- setup:") {
        let block = take(to: "-->")
        page += block
        let script = block.joined(separator: "\n").dropFirst("<!-- setup:".count).dropLast("-->".count)
        let talk = try folder.run("set -e\n\(script)\n")
        if !talk.isEmpty {
          differences.append(Difference(line: at, command: "setup", expected: [], found: [talk]))
        }
      } else if line.hasPrefix("<!-- file: ") {
        let file = String(line.dropFirst("<!-- file: ".count).dropLast(" -->".count))
        page.append(line)
        at += 1
        page.append(lines[at])
        at += 1
        let block = take(to: "```")
        page += block
        folder.write(block.dropLast().joined(separator: "\n") + "\n", to: file)
      } else if line == "```console" {
        page.append(line)
        at += 1
        let first = at
        var commands = Self.commands(take(to: "```").dropLast(), from: first)
        if !isPassedOver {
          let printed = try folder.run(commands.map(\.text))
          for (index, output) in printed.enumerated() where !Self.isEqual(commands[index].output, output) {
            let command = commands[index]
            differences.append(
              Difference(line: command.line, command: command.text, expected: command.output, found: output))
            commands[index].output = output
          }
        }
        page += commands.flatMap { $0.lines + $0.output } + ["```"]
      } else {
        page.append(line)
        at += 1
      }
    }
    return (differences, page.joined(separator: "\n"), passedOver)
  }

  private static func commands(_ block: ArraySlice<String>, from first: Int) -> [Command] {
    var commands: [Command] = []
    for (offset, line) in block.enumerated() {
      if line.hasPrefix("$ ") {
        commands.append(Command(line: first + offset + 1, lines: [line], text: String(line.dropFirst(2))))
      } else if line.hasPrefix("> "), let last = commands.last, last.output.isEmpty {
        commands[commands.endIndex - 1].lines.append(line)
        commands[commands.endIndex - 1].text += "\n" + line.dropFirst(2)
      } else if !commands.isEmpty {
        commands[commands.endIndex - 1].output.append(line)
      }
    }
    return commands
  }

  private static func hasPrograms(for section: ArraySlice<String>) -> Bool {
    let typed = section.filter { $0.hasPrefix("$ ") }.joined(separator: " ").split(separator: " ")
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return optionalPrograms.allSatisfy { program in
      !typed.contains(Substring(program)) || folders.contains { access("\($0)/\(program)", X_OK) == 0 }
    }
  }

  /// Whether a text is what a page says, but for what differs from run to run.
  static func isEqual(_ page: [String], _ printed: [String]) -> Bool {
    page.map(masked) == printed.map(masked)
  }

  /// A line without times, rates, sizes and digests.
  static func masked(_ line: String) -> String {
    line.replacing(#/[0-9.]+ (?:s|ms|min)\b/#, with: "N s")
      .replacing(#/[0-9,]+ rows\/s/#, with: "N rows/s")
      .replacing(#/[0-9.,]+ [KMG]i?B\b/#, with: "N MB")
      .replacing(#/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?Z/#, with: "TIME")
      .replacing(#/\b[0-9a-f]{16,}\b/#, with: "DIGEST")
  }
}

/// Where examples run: `upsurge` is the built command, and `datasets` the folder of the package.
private struct ManualFolder {
  private let scratch = Scratch()
  private let programs = Scratch()

  init() throws {
    let files = FileManager.default
    try files.createSymbolicLink(atPath: programs.file("upsurge"), withDestinationPath: Command.path)
    try files.createSymbolicLink(
      atPath: scratch.file("datasets"),
      withDestinationPath: ManualPage.root.appendingPathComponent("datasets").path)
  }

  func write(_ text: String, to name: String) { _ = scratch.write(text, to: name) }

  /// What a script prints, on standard output and standard error.
  func run(_ script: String) throws -> String {
    let arguments = [scratch.path, programs.path, programs.write(script, to: "script")]
    let start = #"cd "$1" && PATH="$2:$PATH" LC_ALL=C.UTF-8 exec bash "$3" 2>&1"#
    let output = try Command.start(arguments, script: start).finish().output
    let shown = [scratch.path, Self.real(scratch.path)].reduce(output) {
      $0.replacingOccurrences(of: $1, with: "/srv/shop")
    }
    return [ManualPage.root.path, Self.real(ManualPage.root.path)].reduce(shown) {
      $0.replacingOccurrences(of: $1, with: "/srv")
    }
  }

  /// What each of several commands of one shell prints.
  func run(_ commands: [String]) throws -> [[String]] {
    let mark = "\n\u{1}\n"
    let script = commands.map { "\($0)\n{ __code=$?; printf '\\n\\001\\n'; (exit $__code); }\n" }.joined()
    return try run(script).components(separatedBy: mark).prefix(commands.count).map { text in
      var lines = text.components(separatedBy: "\n").map { line in
        String(line.reversed().drop { $0 == " " }.reversed())
      }
      while lines.last == "" { lines.removeLast() }
      return lines
    }
  }

  private static func real(_ path: String) -> String {
    URL(fileURLWithPath: path).resolvingSymlinksInPath().path
  }
}
