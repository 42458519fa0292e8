import ArgumentParser

extension CommandConfiguration {
  /// The parser shows no help of its own (see `HelpRequest`); it needs the name, and what its errors and completions say.
  init(_ guide: CommandGuide, shouldDisplay: Bool = true) {
    self.init(
      commandName: guide.parsedName, abstract: guide.abstract,
      usage: guide.forms.map { "\(guide.command) \($0)" }.joined(separator: "\n"), shouldDisplay: shouldDisplay)
  }
}

extension CommandGuide {
  /// What the parser says of an argument.
  subscript(argument: String) -> ArgumentHelp {
    guard let found = arguments.first(where: { $0.name == argument }) else {
      preconditionFailure("\(command) has no argument \(argument)")
    }
    return ArgumentHelp(found.help, valueName: found.name)
  }
}
