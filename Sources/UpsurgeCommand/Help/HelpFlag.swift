import ArgumentParser

/// The flag that asks for all options. `HelpRequest` answers it; declared, it is known to completions, and to who mistypes it.
struct HelpFlag: ParsableArguments {
  @Flag(name: .customLong("help-all"), help: "Show every option, by topic.") var isAsked = false
}
