/// One thing that is fuzzed: what libFuzzer runs with bytes of its own, and the tests with the corpus.
///
/// An input begins with a few bytes that choose options (see `FuzzInput`); the rest is the content.
package enum FuzzTarget: String, CaseIterable, Sendable {
  /// CSV: the fast parser against the slow one, batches of all sizes.
  case csv
  /// NDJSON and documents: the same.
  case json
  /// Sniffers, encodings, headers, type inference.
  case sniff
  /// zstd, gzip and transcoding against the libraries themselves.
  case source
  /// A whole load with random options, twice: with other batches, and with rows packed into pages.
  case load
  /// A replay of any file of rejects.
  case replay
  /// Small texts: sizes, paths, rules, what the engine keeps as JSON, SQL that a schema gives.
  case text

  /// Runs the target.
  /// - Throws: `Finding` for what must not be; what is worse traps.
  package func run(_ bytes: [UInt8]) throws {
    var input = FuzzInput(bytes)
    switch self {
    case .csv: try CSVFuzz.run(&input)
    case .json: try JSONFuzz.run(&input)
    case .sniff: try SniffFuzz.run(&input)
    case .source: try SourceFuzz.run(&input)
    case .load: try LoadFuzz.run(&input)
    case .replay: try ReplayFuzz.run(&input)
    case .text: try TextFuzz.run(&input)
    }
  }
}

/// Something that must not be.
package struct Finding: Error, CustomStringConvertible {
  package var description: String

  package init(_ description: String) { self.description = String(description.prefix(8_000)) }
}

/// Stops with a finding unless `isRight`.
func expect(_ isRight: Bool, _ what: @autoclosure () -> String) throws {
  if !isRight { throw Finding(what()) }
}
