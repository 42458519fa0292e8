import TestSupport
import Testing

@testable import UpsurgeCommand

/// What a shell offers, each asked by itself.
@Suite("Completions")
struct ShellCompletionTests {
  private let scratch = Scratch()

  private func script(_ shell: String) throws -> String {
    let outcome = try Command.run(["--generate-completion-script", shell])
    #expect(outcome.exitCode == 0 && outcome.output.utf8.count > 10_000, "\(outcome.talk)")
    return scratch.write(outcome.output, to: "upsurge.\(shell)")
  }

  /// Runs a shell on a script that it is given, and returns what it prints.
  private func run(_ shell: String, _ text: String) throws -> [String] {
    let file = scratch.write(text, to: "ask.\(shell)")
    let outcome = try Command.run([], script: "\(shell) \(file) < /dev/null")
    #expect(outcome.exitCode == 0 && outcome.talk.isEmpty, "\(outcome.talk)")
    return outcome.output.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
  }

  @Test("zsh reads its file", .enabled(if: Tool.exists("zsh"), Tool.skipNote("zsh")))
  func zsh() throws { try checkSyntax("zsh") }

  private func checkSyntax(_ shell: String) throws {
    let outcome = try Command.run([], script: "\(shell) -n \(script(shell))")
    #expect(outcome.exitCode == 0 && outcome.talk.isEmpty, "\(outcome.talk)")
  }

  private static let questions = [
    ("upsurge lo", ["load"]), ("upsurge load a.db t --on-", ["--on-error"]), ("upsurge load --on-error ", ["stop", "reject"]),
    ("upsurge mirror a.db --max-de", ["--max-delete"]), ("upsurge load --help-", ["--help-all"]),
  ]

  @Test("bash offers commands, options and values", .enabled(if: Tool.exists("bash"), Tool.skipNote("bash")))
  func bash() throws {
    try checkSyntax("bash")
    let file = try script("bash")
    for (words, offers) in Self.questions {
      let found = try run(
        "bash",
        """
        source \(file)
        COMP_LINE="\(words)"
        COMP_POINT=${#COMP_LINE}
        COMP_WORDS=($COMP_LINE)
        case "$COMP_LINE" in *' ') COMP_WORDS+=("") ;; esac
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _upsurge upsurge "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        printf '%s\\n' "${COMPREPLY[@]}"
        """)
      #expect(Set(found) == Set(offers), "\(words): \(found)")
    }
  }

  @Test("fish offers commands, options and values", .enabled(if: Tool.exists("fish"), Tool.skipNote("fish")))
  func fish() throws {
    try checkSyntax("fish")
    let file = try script("fish")
    for (words, offers) in Self.questions {
      let found = try run("fish", "source \(file)\ncomplete -C '\(words)'\n")
      #expect(Set(found) == Set(offers), "\(words): \(found)")
    }
  }
}
