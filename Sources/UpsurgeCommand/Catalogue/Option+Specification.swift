import ArgumentParser
import UpsurgeRecords

// An option of the command is declared by its term: name, value and help are those of the catalogue.
//
//     @Option(.format) var format: RecordFormat?
//     @Flag(.strict, of: .inspect) var isStrict = false

extension Option where Value: ExpressibleByArgument {
  /// - Parameter topic: which of the options of this name; nil is the first one of the catalogue.
  init(wrappedValue: Value, _ term: Term, of topic: OptionTopic? = nil) {
    let specification = OptionCatalogue.specification(term, of: topic)
    self.init(
      wrappedValue: wrappedValue, name: specification.names, help: specification.argumentHelp,
      completion: specification.completion)
  }
}

extension Option {
  /// - Parameter topic: which of the options of this name; nil is the first one of the catalogue.
  init<Word: ExpressibleByArgument>(_ term: Term, of topic: OptionTopic? = nil) where Value == Word? {
    let specification = OptionCatalogue.specification(term, of: topic)
    self.init(
      name: specification.names, help: specification.argumentHelp, completion: specification.completion)
  }

  /// An option that may be given again.
  /// - Parameter topic: which of the options of this name; nil is the first one of the catalogue.
  init<Word: ExpressibleByArgument>(
    wrappedValue: [Word], _ term: Term, of topic: OptionTopic? = nil
  ) where Value == [Word] {
    let specification = OptionCatalogue.specification(term, of: topic)
    self.init(
      wrappedValue: wrappedValue, name: specification.names, parsing: .singleValue,
      help: specification.argumentHelp, completion: specification.completion)
  }
}

extension Flag where Value == Bool {
  /// - Parameter topic: which of the flags of this name; nil is the first one of the catalogue.
  init(wrappedValue: Bool, _ term: Term, of topic: OptionTopic? = nil) {
    let specification = OptionCatalogue.specification(term, of: topic)
    self.init(wrappedValue: wrappedValue, name: specification.names, help: specification.argumentHelp)
  }
}

extension OptionSpecification {
  fileprivate var names: NameSpecification {
    letter.map { [.customShort($0), .customLong(name)] } ?? .customLong(name)
  }

  fileprivate var argumentHelp: ArgumentHelp {
    ArgumentHelp(
      help, valueName: valueName.isEmpty ? nil : valueName, visibility: isHidden ? .hidden : .default)
  }

  /// What a shell offers for a value; nil is the words of its type.
  fileprivate var completion: CompletionKind? {
    switch valueName {
    case "FILE", "FILE|table": .file()
    case "DIR": .directory
    default: nil
    }
  }
}
