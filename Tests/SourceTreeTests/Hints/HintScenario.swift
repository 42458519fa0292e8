import Foundation
import TestSupport
import Testing

/// A hint as a user meets it: a command that prints it, what is then done as it says, and the table that must come of it.
///
/// All runs of a scenario work in one folder, with `d.db` as the database.
struct HintScenario: Sendable, CustomTestStringConvertible {
  /// What is done after the hint, one behind the other.
  enum Step: Sendable {
    /// The command as before, with the words that the message shows: the first match of the pattern, split as a shell would.
    case add(String)
    /// The command as before, with these words: for a hint whose names stand for the user's own.
    case give([String])
    /// Takes words out of the command, for the run of the step behind it.
    case leaveOut([String])
    /// The command as before.
    case again
    /// A command that the message shows whole; the pattern finds it.
    case printed(String)
    /// Another command.
    case run([String])
    /// Statements for the database.
    case sql(String)
    /// Statements that the message shows.
    case printedSQL(String)
    case write(String, String)
    /// What a shell does in the folder, as a hint shows it.
    case shell(String)
  }

  var name: String
  /// As they stand in the sources, `…` for what is put in.
  var hints: [String]
  var files: [String: String] = [:]
  var bytes: [String: [UInt8]] = [:]
  /// What a shell does in the folder before the first run.
  var prepare: String?
  /// Statements for the database before the first run.
  var setup = ""
  /// Statements behind those of the shell.
  var change: String?
  var first: [String]
  /// How the run that prints the hints ends; nil: in any way.
  var firstExit: Int32?
  /// Whether the first run has no standard input.
  var closesInput = false
  var steps: [Step]
  /// How the last step may end.
  var exits: Set<Int32> = [0]
  var query = "SELECT * FROM t"
  var rows: [String]

  var testDescription: String { name }
}

/// Follows one scenario and says what is wrong with its end.
final class HintWalk {
  private let scenario: HintScenario
  private let scratch = Scratch()
  private var command: [String]
  private var talk = ""
  private(set) var faults: [String] = []

  init(_ scenario: HintScenario) {
    self.scenario = scenario
    command = scenario.first
  }

  func follow() throws {
    for (name, text) in scenario.files { _ = scratch.write(text, to: name) }
    for (name, bytes) in scenario.bytes { _ = scratch.write(bytes, to: name) }
    if !scenario.setup.isEmpty { try database().rows(scenario.setup) }
    if let script = scenario.prepare { _ = try shell(script) }
    if let change = scenario.change { try database().rows(change) }
    var outcome = try run(command, closesInput: scenario.closesInput)
    let printed = outcome.talk
    if let code = scenario.firstExit, outcome.exitCode != code {
      faults.append("the first run ended with \(outcome.exitCode), not \(code): \(outcome.talk)")
    }
    for hint in scenario.hints where !HintText.isIn(outcome.talk + outcome.output, hint) {
      faults.append("the first run does not print “\(hint)”: \(outcome.talk)\(outcome.output)")
    }
    for step in scenario.steps {
      if let next = try take(step) { outcome = next }
    }
    guard scenario.exits.contains(outcome.exitCode) else {
      faults.append("the last run ended with \(outcome.exitCode): \(outcome.talk)")
      return
    }
    if outcome.exitCode != 0, outcome.exitCode != 2, outcome.talk == printed {
      faults.append("the same message comes again: \(outcome.talk)")
    }
    let rows = (try? database().rows(scenario.query)) ?? ["no such table"]
    if rows != scenario.rows { faults.append("\(rows) is in the table, not \(scenario.rows): \(outcome.talk)") }
  }

  private func take(_ step: HintScenario.Step) throws -> Command.Outcome? {
    switch step {
    case .add(let pattern):
      command += try matches(pattern).first.map(ShellWords.split) ?? []
    case .give(let words): command += words
    case .leaveOut(let words):
      command.removeAll { words.contains($0) }
      return nil
    case .again: break
    case .printed(let pattern):
      guard let words = try matches(pattern).first.map(ShellWords.split), words.first == "upsurge" else { return nil }
      return try run(Array(words.dropFirst()))
    case .run(let words): command = words
    case .sql(let text):
      try database().rows(text)
      return nil
    case .printedSQL(let pattern):
      for text in try matches(pattern) { try database().rows(text) }
      return nil
    case .write(let name, let text):
      _ = scratch.write(text, to: name)
      return nil
    case .shell(let text):
      return try shell(text)
    }
    return try run(command)
  }

  /// What the message before shows; a hint that does not is at fault.
  private func matches(_ pattern: String) throws -> [String] {
    let found = talk.matches(of: try Regex(pattern)).map { String(talk[$0.range]) }
    if found.isEmpty { faults.append("the message does not show \(pattern): \(talk)") }
    return found
  }

  private func run(_ words: [String], closesInput: Bool = false) throws -> Command.Outcome {
    let outcome = try Command.run(
      words, script: "cd '\(scratch.path)' && exec \"$0\" \"$@\"" + (closesInput ? " <&-" : ""))
    talk = outcome.talk + outcome.output
    return outcome
  }

  /// Runs a script in which `upsurge` is the command.
  private func shell(_ text: String) throws -> Command.Outcome {
    try Command.run([], script: "cd '\(scratch.path)' && PATH=\"$(dirname \"$0\"):$PATH\" && \(text)")
  }

  private func database() -> Database { Database(scratch.file("d.db")) }
}

enum HintText {
  /// Whether a message holds a hint: its parts between the places that are put in, in their order.
  static func isIn(_ text: String, _ hint: String) -> Bool {
    var rest = asJob(text)[...]
    for part in asJob(hint).split(separator: "…") {
      guard let range = rest.range(of: part) else { return false }
      rest = rest[range.upperBound...]
    }
    return true
  }

  /// A mirror says options as its job file does.
  private static func asJob(_ text: String) -> String {
    let words = [
      ("--columns-gone ", "columns-gone: "), ("--max-delete ", "max-delete: "), ("--rename ", "rename: "),
      ("--allow-empty", "allow-empty: true in the guards"), ("--line-end any", "line-end: any in the guards"),
      ("--trailer", "trailer in the guards"),
    ]
    return words.reduce(text) { $0.replacing($1.0, with: $1.1) }
  }
}

/// Splits as a shell does: blanks part words, quotes hold them together.
enum ShellWords {
  static func split(_ text: String) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    for letter in text {
      switch (letter, quote) {
      case (let mark, let open?) where mark == open: quote = nil
      case (_, .some): word = (word ?? "") + String(letter)
      case ("'", nil), ("\"", nil):
        quote = letter
        word = word ?? ""
      case (" ", nil):
        if let whole = word { words.append(whole) }
        word = nil
      default: word = (word ?? "") + String(letter)
      }
    }
    return words + (word.map { [$0] } ?? [])
  }
}

extension HintScenario {
  /// A load of one file into table t.
  static func load(
    _ name: String, _ hints: [String], _ text: String, file: String = "f.csv", _ options: [String] = [],
    files: [String: String] = [:], setup: String = "", exit: Int32? = nil, _ steps: [Step], exits: Set<Int32> = [0],
    query: String = "SELECT * FROM t", rows: [String]
  ) -> HintScenario {
    HintScenario(
      name: name, hints: hints, files: files.merging([file: text]) { first, _ in first }, setup: setup,
      first: ["load", "d.db", "t", file] + options, firstExit: exit, steps: steps, exits: exits, query: query, rows: rows)
  }
}
