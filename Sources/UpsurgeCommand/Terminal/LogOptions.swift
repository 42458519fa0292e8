import ArgumentParser

/// The option that says how what is said is written.
struct LogOptions: ParsableArguments {
  @Option(.log) var log: LogFormat = .text
}
