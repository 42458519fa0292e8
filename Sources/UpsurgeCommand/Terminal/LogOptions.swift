import ArgumentParser

/// The option that says how what is said is written.
struct LogOptions: ParsableArguments {
  @Option(
    help: """
      text, or json: one object a line on standard error, with time, level (debug, info, warning, error), event (note, \
      progress, table, error, end), table, message and counts.
      """)
  var log: LogFormat = .text
}
