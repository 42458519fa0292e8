import ArgumentParser
import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The table of the command line, in whose place a file may stand.
extension LoadCommand {
  /// Whether what stands in the table's place is a file, as it is where the table was forgotten.
  private var isTableAFile: Bool {
    var status = stat()
    return stat(table, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// A name with these signs is a file's rather than a table's.
  private var looksLikeAFile: Bool { table.contains { "./".contains($0) } }

  /// The command with a table before the file that stands in its place. The table is called as the file, up to its first dot.
  private var meantCommand: String {
    let name = table.split(separator: "/").last?.prefix { $0 != "." } ?? ""
    let isPlain = name.first?.isLetter == true && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-".contains($0)) }
    // The database may be a URL with a password.
    let shown = SourceName.redacted(database).quotedForShell
    return "upsurge load \(shown) \(isPlain ? String(name) : "TABLE") \(table.quotedForShell)"
  }

  /// - Throws: `ValidationError` where a URL stands in the table's place; and where the table is missing, and nothing but a person
  ///   would be read from.
  func checkTable() throws {
    // It may hold a password, so it is not repeated.
    if table.contains("://") {
      throw ValidationError(
        """
        a URL stands where the table is named
          fix: upsurge load DATABASE TABLE SOURCE: the URL of a server comes first, and what is read comes last
        """)
    }
    guard sources.isEmpty, isTableAFile, looksLikeAFile || isatty(STDIN_FILENO) == 1 else { return }
    throw ValidationError(
      """
      \(table.escapedForTerminal) is a file, and no table is named
        fix: \(meantCommand); a table of that name: give - after it for standard input
      """)
  }

  /// Endings of files that hold records.
  private static let endings = [".csv", ".tsv", ".txt", ".json", ".ndjson", ".jsonl", ".gz", ".zst"]

  /// Says what a run waits for at a terminal, and that a table is called as a file is.
  /// - Returns: what is said of standard input while nothing comes from it; nil where nothing is to be said.
  func noteInput(_ terminal: Terminal) -> InputWait? {
    let name = table.escapedForTerminal
    if !sources.isEmpty {
      if isTableAFile && looksLikeAFile {
        terminal.note(
          RunNote(.warning, "\(name) is taken for the table, and is a file; if the table is missing: \(meantCommand) …"))
      }
      return nil
    }
    if !isTableAFile, Self.endings.contains(where: table.lowercased().hasSuffix) {
      terminal.note(RunNote(.warning, "\(name) is taken for the table; there is no such file"))
    }
    if isatty(STDIN_FILENO) == 1 {
      terminal.note(
        RunNote(
          .info,
          "waits for records of table \(name) from the terminal, which Ctrl-D ends; a SOURCE after the table is read instead"))
    } else if isTableAFile {
      let words = "\(name) is taken for the table, and records come from standard input"
      return InputWait(terminal, RunNote(.info, "\(words); to load the file \(name): \(meantCommand)"))
    }
    return nil
  }
}

/// Says once what standard input is read for, where nothing comes from it.
final class InputWait {
  private let terminal: Terminal
  private let said: RunNote
  private var hasSaid = false

  init(_ terminal: Terminal, _ said: RunNote) { (self.terminal, self.said) = (terminal, said) }

  /// So many seconds without a byte are no matter of the machine.
  private static let patience = 2.0

  /// Says it where nothing has come for long.
  func note(_ progress: RunControl.Progress) {
    guard progress.stage == .fetching, progress.bytes == 0, progress.stageSeconds >= Self.patience else { return }
    say()
  }

  /// Says it where nothing has come at all.
  func note(_ summary: RunSummary) { if summary.ledger.read == 0 { say() } }

  private func say() {
    if !hasSaid { terminal.note(said) }
    hasSaid = true
  }
}
