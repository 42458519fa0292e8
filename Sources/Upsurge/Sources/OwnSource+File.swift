import UpsurgeInput
import UpsurgeRecords

extension LoadOptions {
  /// What the program gives for a source that it is itself; nil for any other.
  func ownSource(_ source: Source) -> OwnSource? {
    if case .program(let name) = source.opening { environment.ownSources[name] } else { nil }
  }
}

extension OwnSource {
  /// Starts the program's producer, on a thread of its own.
  func file(
    name: String, counter: ByteCounter, cancellation: ReadCancellation?
  ) throws(UpsurgeError) -> FileSource {
    let feed = try ProducedFeed(name: name, interrupt: {}) { output throws(UpsurgeError) in
      try PreparedSource.producing(name) {
        switch self {
        case .bytes(let producer): try producer.produce(into: ByteOutput(output: output))
        case .records(let producer):
          let records = RecordOutput(output)
          try producer.produce(into: records)
          try records.flush()
        }
      }
    }
    return try FileSource(feed: feed, name: name, counter: counter, cancellation: cancellation)
  }
}

extension PreparedSource {
  /// Opens what the program makes.
  static func prepare(
    _ source: OwnSource, name: String, options: LoadOptions, counter: ByteCounter,
    cancellation: ReadCancellation?
  ) throws(UpsurgeError) -> PreparedSource {
    let file = try source.file(name: name, counter: counter, cancellation: cancellation)
    if case .records = source { return try records(of: file) }
    return try prepare(file, options: options)
  }

  /// Has a parser of the program make records of a source.
  /// - Parameter opened: the source's bytes.
  static func prepare(
    _ opened: OpenedSource, parser: any FormatParser, counter: ByteCounter, cancellation: ReadCancellation?
  ) throws(UpsurgeError) -> PreparedSource {
    let input = Moved(opened)
    let feed = try ProducedFeed(name: opened.name, interrupt: {}) { output throws(UpsurgeError) in
      try producing(input.source.name) {
        let records = RecordOutput(output)
        try parser.parse(ByteInput(input.source), into: records)
        try records.flush()
      }
    }
    // What was read of the file is counted by its own source.
    return try records(
      of: FileSource(feed: feed, name: opened.name, counter: ByteCounter(), cancellation: cancellation))
  }

  /// Records as `RecordOutput` writes them.
  static func records(of file: FileSource) throws(UpsurgeError) -> PreparedSource {
    var opening = OpenedSource.Options()
    opening.compression = .none
    opening.encoding = .utf8
    opening.allowsSingleByteEncodings = false
    return PreparedSource(opened: try OpenedSource(file: file, options: opening), shape: .json(.ndjson))
  }

  /// Makes one error of whatever a producer throws.
  fileprivate static func producing(_ name: String, _ body: () throws -> Void) throws(UpsurgeError) {
    do { try body() } catch let error as UpsurgeError {
      throw error
    } catch is CancellationError {
      throw UpsurgeError(.interrupted, "\(SourceName.shown(name)) was not read to its end")
    } catch {
      throw UpsurgeError(
        .badInput, "\(SourceName.shown(name)) could not give all of its records: \(error)",
        hint: "what was committed stands")
    }
  }

  /// A source on its way to the thread that reads it.
  private final class Moved: @unchecked Sendable {
    // Sendable because the thread that has opened it only starts the one that uses it.

    let source: OpenedSource

    init(_ source: OpenedSource) { self.source = source }
  }
}
