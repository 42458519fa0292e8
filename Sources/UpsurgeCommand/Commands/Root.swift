import ArgumentParser
import CScan
import Upsurge
import UpsurgePostgres

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The `upsurge` command. Apart from the executable's one line, as tests can import only a library wherever they are built.
package struct Root: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "upsurge",
    abstract: CommandGuide.root.abstract,
    version: upsurgeVersion,
    subcommands: [
      LoadCommand.self, MirrorCommand.self, MirrorInitCommand.self, InspectCommand.self, RunsCommand.self,
      ReplayCommand.self, StatusCommand.self, MoveCommand.self, MigrateKeysCommand.self, BenchCommand.self,
      PagesCommand.self,
    ])

  package init() {}

  /// Parses the words of the command line and runs what they ask for.
  package static func main() {
    StandardStreams.fill()
    PostgresModule.register()
    upsurge_return_freed_memory()
    var arguments = Array(CommandLine.arguments.dropFirst())
    // Before anything can go wrong with the rest of them.
    if Terminal.asksForJSON(arguments) { Terminal.beginJSON() }
    if arguments.count == 2, arguments.contains("--version"),
      arguments.contains("-v") || arguments.contains("--verbose")
    {
      StandardOutput.print(VersionText().text)
      exit(withError: StandardOutput.finish() ? ExitCode.success : ExitCode(73))
    }
    help(arguments)
    let words = arguments
    let commands = configuration.subcommands.map { $0._commandName }
    if let first = words.first, let message = Suggestion.unknownCommand(first, of: commands) { fail(message, command: "") }
    if arguments.starts(with: ["mirror", "init"]) {
      arguments.replaceSubrange(0..<2, with: [MirrorInitCommand.name])
    }
    if let option = RepeatedOption.first(in: arguments) {
      fail(RepeatedOption.message(option), command: arguments.first ?? "")
    }
    arguments = OptionalValue.expand(arguments, option: "--flatten", defaultValue: "_") { isSeparator($0) }
    // There it has no value.
    if ![MigrateKeysCommand.configuration.commandName, MoveCommand.configuration.commandName].contains(arguments.first) {
      arguments = OptionalValue.expand(arguments, option: "--dry-run", defaultValue: "count") {
        DryRun(rawValue: $0) != nil
      }
    }
    do {
      var command = try parseAsRoot(GatheredWords.gather(arguments))
      do {
        try command.run()
      } catch let error as ValidationError {
        fail(error.message, command: type(of: command)._commandName)
      }
    } catch {
      end(with: error, of: words)
    }
  }

  /// Shows help and ends, where it is asked for.
  private static func help(_ arguments: [String]) {
    do throws(HelpRequest.Unknown) {
      guard let request = try HelpRequest(arguments) else { return }
      let columns = TextColumns(width: TerminalStyle.width)
      StandardOutput.print(
        request.text(
          defaults: defaults(of: request.guide), columns: columns,
          isColoured: TerminalStyle.isColoured(STDOUT_FILENO)), terminator: "")
      exit(withError: StandardOutput.finish() ? nil : ExitCode(73))
    } catch {
      fail(error.message, command: error.command)
    }
  }

  /// What holds where an option of a command is not given, by the option's name.
  static func defaults(of guide: CommandGuide) -> [String: String] {
    let command = configuration.subcommands.first { $0._commandName == guide.parsedName }
    return command.map { OptionText.defaults(in: $0.helpMessage(includeHidden: true, columns: 5_000)) } ?? [:]
  }

  /// Ends as the argument parser would, with what the command line says shown as text.
  /// - Parameter words: the command line.
  private static func end(with error: any Error, of words: [String]) -> Never {
    let code = exitCode(for: error)
    if code == .success { exit(withError: error) }
    let message = Suggestion.mended(fullMessage(for: error), of: words)
    if !message.isEmpty { Terminal.say(Terminal.visible(message) + "\n") }
    exit(withError: code)
  }

  /// Ends with the exit code of a usage error.
  /// - Parameter command: the subcommand whose help shows the way out.
  private static func fail(_ message: String, command: String) -> Never {
    let known = configuration.subcommands.contains { $0._commandName == command }
    let command = command == MirrorInitCommand.name ? "mirror init" : command
    Terminal.say(
      "upsurge: \(Terminal.visible(message))\n  see: upsurge \(known ? command + " " : "")--help\n")
    exit(withError: ExitCode.validationFailure)
  }

  /// Only 1 to 3 signs of punctuation join names.
  private static func isSeparator(_ word: String) -> Bool {
    !word.hasPrefix("-") && !word.isEmpty && word.utf8.count <= 3
      && word.allSatisfy { "._-:/|~".contains($0) }
  }
}

/// Options whose value may be left out, which the argument parser does not know.
enum OptionalValue {
  /// `--flatten` and `--flatten SEP` both become `--flatten=SEP`; a word that is no value is left where it is.
  static func expand(
    _ arguments: [String], option: String, defaultValue: String, isValue: (String) -> Bool
  ) -> [String] {
    var expanded: [String] = []
    var index = 0
    while index < arguments.count {
      let word = arguments[index]
      index += 1
      guard word == option else {
        expanded.append(word)
        if word == "--" { return expanded + arguments[index...] }
        continue
      }
      if index < arguments.count, isValue(arguments[index]) {
        expanded.append("\(option)=\(arguments[index])")
        index += 1
      } else {
        expanded.append("\(option)=\(defaultValue)")
      }
    }
    return expanded
  }
}
