import CScan
import UpsurgeRecords

/// Checks that a stream is one JSON value (RFC 8259) and nothing else; fed in pieces of any size.
package struct JSONValidator: Sendable {
  private let file: String
  private var machine = upsurge_json_machine()
  private var line: UInt64 = 1
  private var byte: UInt64 = 0
  private var isEmpty = true

  /// - Parameter maximumDepth: How many brackets may be open at once, at most 1,024.
  package init(file: String, maximumDepth: Int = JSONDialect.depthLimit) {
    self.file = file
    upsurge_json_machine_start(&machine, Int32(truncatingIfNeeded: maximumDepth))
  }

  /// Checks the next bytes.
  /// - Throws: `badInput` with line and byte of the first fault.
  package mutating func feed(_ bytes: UnsafeBufferPointer<UInt8>) throws(UpsurgeError) {
    guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
    let end = start + bytes.count
    var at: UnsafePointer<UInt8>? = start
    let code = Int(upsurge_json_machine_run(&machine, &at, end, false))
    let place = at ?? end
    line += upsurge_json_count_lines(start, place)
    byte += UInt64(place - start)
    if isEmpty { isEmpty = upsurge_json_skip_space(start, end) == end }
    if code == UPSURGE_JSON_OK { return }
    let fault = JSONFault(kind: .kernel(code), at: place)
    let rest = UnsafeBufferPointer(start: place, count: min(40, end - place))
    throw UpsurgeError(
      .badInput, "the input is not JSON: \(JSONFault.sentence(code)), \(fault.found(end))",
      position: Position(file: file, line: line, byte: byte),
      snippet: String(decoding: rest, as: UTF8.self).escapedForTerminal)
  }

  /// Checks that the value is complete.
  /// - Throws: `badInput` with the position of the end.
  package mutating func finish() throws(UpsurgeError) {
    if upsurge_json_machine_is_whole(&machine) { return }
    throw UpsurgeError(
      .badInput,
      isEmpty
        ? "the input is empty"
        : "the input ends before its JSON value is complete (\(machine.depth) open brackets)",
      position: Position(file: file, line: line, byte: byte))
  }
}
