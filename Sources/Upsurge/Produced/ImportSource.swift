/// Where records come from: by name, or from the program itself.
///
///     ["orders.csv.zst", .records(Orders(of: store)), "https://example.org/more.ndjson"]
public enum ImportSource: Sendable, ExpressibleByStringLiteral {
  /// A file, a glob, a URL, `exec:COMMAND`, `sqlite:PATH#TABLE`, or `-` for standard input.
  case named(String)
  /// Bytes that the program makes, read as a file of them would be: decompressed, sniffed, parsed.
  case bytes(any ByteProducer)
  /// Records that the program makes.
  case records(any RecordProducer)

  public init(stringLiteral name: String) { self = .named(name) }
}

/// Makes a stream of bytes: a body of another HTTP client, an object of a store, a decrypted file.
public protocol ByteProducer: Sendable {
  /// What messages and rejects call it.
  var name: String { get }
  /// Writes all bytes. Called once, on a thread of its own; may wait. What it throws ends the import as a cut file does.
  func produce(into output: ByteOutput) throws
}

/// Makes records: rows of another store, messages of a queue.
public protocol RecordProducer: Sendable {
  /// What messages and rejects call it.
  var name: String { get }
  /// Writes all records. Called once, on a thread of its own; may wait. What it throws ends the import as a cut file does.
  func produce(into output: RecordOutput) throws
}

/// Makes records of the bytes of any source, which come decompressed and in UTF-8: your own format.
///
///     struct KeyValueLines: FormatParser {
///       func parse(_ input: ByteInput, into output: RecordOutput) throws {
///         while let line = try input.readLine() {
///           let parts = line.split(separator: "=", maxSplits: 1)
///           try output.append(["key": .text(String(parts[0])), "value": .text(String(parts[1]))])
///         }
///       }
///     }
public protocol FormatParser: Sendable {
  /// Reads all of a source and writes its records. Called for each source, on a thread of its own.
  func parse(_ input: ByteInput, into output: RecordOutput) throws
}

/// Takes the bytes of a producer, until that returns. Memory is bounded: writing waits for who reads.
public struct ByteOutput {
  let output: ProducedFeed.Output

  /// Writes all of it.
  /// - Throws: `CancellationError` when nobody reads any more.
  public func write(_ bytes: [UInt8]) throws {
    if output.isStopped || !output.write(bytes) { throw CancellationError() }
  }
}

/// Takes the records of a producer or a parser, until that returns. Memory is bounded: writing waits for who reads.
public final class RecordOutput {
  private let output: ProducedFeed.Output
  private var text = JSONText()

  private static let pieceByteCount = 48 << 10

  init(_ output: ProducedFeed.Output) { self.output = output }

  /// Writes a record: names of columns, and their values. A column that is not there is not spoken of.
  /// - Throws: `CancellationError` when nobody reads any more.
  public func append(_ record: KeyValuePairs<String, SQLValue>) throws {
    try append(fields: record.lazy.map { ($0.key, $0.value) })
  }

  /// Writes a record whose fields are only known when the program runs.
  /// - Throws: `CancellationError` when nobody reads any more.
  public func append(fields: some Sequence<(String, SQLValue)>) throws {
    text.beginObject()
    for (name, value) in fields {
      text.key(name)
      text.value(value)
    }
    text.endObject()
    text.newline()
    if text.bytes.count >= Self.pieceByteCount { try flush() }
  }

  /// Writes what is gathered.
  func flush() throws {
    defer { text.removeAll() }
    if output.isStopped || !output.write(text.bytes) { throw CancellationError() }
  }
}

/// The bytes of a source, for a parser.
public final class ByteInput {
  /// The source, as messages and rejects call it.
  public let name: String
  private let source: OpenedSource
  private var buffer = [UInt8](repeating: 0, count: 64 << 10)
  private var range = 0..<0

  init(_ source: OpenedSource) {
    self.source = source
    name = source.name
  }

  /// Reads up to the next line end, which is not given (LF, or CR LF); nil at the end.
  /// - Parameter limit: bytes that a line may have, without its end.
  /// - Throws: `badInput` where the source is cut or corrupt, and at a line of more bytes than `limit`.
  public func readLine(limit: ByteSize = .mebibytes(16)) throws(UpsurgeError) -> String? {
    var line: [UInt8]?
    while true {
      // One byte more may be the CR of the line end.
      if let line, line.count - 1 > limit.byteCount { throw tooLong(limit) }
      if range.isEmpty, try fill() == 0 { break }
      let rest = buffer[range]
      if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        line = line ?? []
        line?.append(contentsOf: rest[..<end])
        range = end + 1..<range.upperBound
        if line?.last == UInt8(ascii: "\r") { line?.removeLast() }
        break
      }
      line = line ?? []
      line?.append(contentsOf: rest)
      range = 0..<0
    }
    if let line, line.count > limit.byteCount { throw tooLong(limit) }
    return line.map { String(decoding: $0, as: UTF8.self) }
  }

  /// Reads what is there, at most 64 KiB; empty at the end.
  /// - Throws: `badInput` where the source is cut or corrupt.
  public func read() throws(UpsurgeError) -> [UInt8] {
    if range.isEmpty { _ = try fill() }
    defer { range = 0..<0 }
    return Array(buffer[range])
  }

  private func tooLong(_ limit: ByteSize) -> UpsurgeError {
    UpsurgeError(
      .badInput, "\(name): a line has more than \(limit.byteCount) bytes",
      hint: "another format, or a larger limit of readLine")
  }

  private func fill() throws(UpsurgeError) -> Int {
    let count = try buffer.withUnsafeMutableBufferPointer { (bytes) throws(UpsurgeError) in
      try source.read(into: UnsafeMutableRawBufferPointer(bytes))
    }
    range = 0..<count
    return count
  }
}
