import TestSupport
import Testing

@testable import UpsurgeCommand

@Suite("Colours")
struct TerminalStyleTests {
  @Test(
    "Only on a terminal that knows them, and never with NO_COLOR",
    arguments: [
      (true, nil, "xterm", true), (true, "", "xterm", true), (true, "1", "xterm", false), (true, nil, "dumb", false),
      (true, nil, "", false), (true, nil, nil, false), (false, nil, "xterm", false),
    ] as [(Bool, String?, String?, Bool)])
  func rules(isTerminal: Bool, noColor: String?, kind: String?, isColoured: Bool) {
    #expect(TerminalStyle.isColoured(isTerminal: isTerminal, noColor: noColor, kind: kind) == isColoured)
  }

  @Test("The word that says what a line is has a colour, and no other text")
  func painted() {
    let text = "upsurge: it is note: 1\nwarning: 2\n  fix: 3\nnote: 4\n"
    let painted = TerminalStyle.painted(text)
    #expect(
      painted
        == "\u{1B}[1;31mupsurge:\u{1B}[0m it is note: 1\n\u{1B}[1;33mwarning:\u{1B}[0m 2\n  fix: 3\n"
        + "\u{1B}[1;36mnote:\u{1B}[0m 4\n")
  }

  private static let hasScript = Tool.exists("script")

  /// script(1) runs a command with a terminal of its own.
  private func shown(_ environment: String, _ words: String) throws -> String {
    try Command.run(
      [], script: "\(environment) UPSURGE=\"$0\" script -qec '\"$UPSURGE\" \(words)' /dev/null < /dev/null"
    ).output
  }

  @Test(
    "On a terminal help has bold headings and errors a colour",
    .enabled(if: hasScript, Tool.skipNote("script")))
  func terminal() throws {
    #expect(try shown("TERM=xterm NO_COLOR=", "load --help").contains("\u{1B}[1mUsage:\u{1B}[0m"))
    #expect(try shown("TERM=xterm NO_COLOR=", "runs /nowhere/a.db").contains("\u{1B}[1;31mupsurge:\u{1B}[0m"))
    for environment in ["TERM=xterm NO_COLOR=1", "TERM=dumb NO_COLOR="] {
      for words in ["load --help", "runs /nowhere/a.db"] {
        let text = try shown(environment, words)
        #expect(!text.contains("\u{1B}[") && text.count > 20, "\(text)")
      }
    }
  }
}
