import ArgumentParser
import Upsurge

/// `upsurge mirror init`: a first job file, to be read and changed.
struct MirrorInitCommand: ParsableCommand {
  /// What the argument parser calls it: to that parser `init` would be the name of a database.
  static let name = CommandGuide.mirrorInit.parsedName

  static let configuration = CommandConfiguration(CommandGuide.mirrorInit, shouldDisplay: false)

  @Argument(help: CommandGuide.mirrorInit["DATABASE"], completion: .file())
  var database: String

  @Argument(help: CommandGuide.mirrorInit["SOURCE"], completion: .file())
  var source: String

  @Option(.table, of: .draft) var table: String?

  @Option(.key, of: .draft) var key: String?

  @OptionGroup var help: HelpFlag

  func run() throws {
    let names = try key.map { try NameList.parse($0, option: "--key") }
    if let fault = SourceFault.of(Source(source)) {
      throw ValidationError("the source \(fault.message)" + (fault.hint.map { "; \($0)" } ?? ""))
    }
    if Source(source).isStandardInput {
      throw ValidationError("init looks at the source, and a job reads it again: give a file")
    }
    try Terminal.orExit { () throws(UpsurgeError) in
      let draft = try JobDraft(database: database, source: source, table: table, key: names)
      StandardOutput.print(draft.text, terminator: "")
      if !StandardOutput.finish() { throw UpsurgeError(.cannotCreate, "the job file was not written") }
    }
  }
}
