import CScan
import UpsurgeRecords

/// What a JSON parser must know to go on in the middle of a source. That is whether records are objects or arrays, the
/// header of arrays, the keys that were counted as left out or as empty, and where in a document it is.
///
///     ""                                                   before everything
///     {"shape":"objects"}
///     {"shape":"arrays","header":["a","b"],"left_out":["c"],
///      "document":{"machine":[...],"open":"{[","matched":1,"found":true,"started":true,"records":2}}
extension JSONParser {
  /// The details of a state after the first object.
  package static let objectsDetails = #"{"shape":"objects"}"#

  package var state: ParserState? {
    if lineProgress.dropped != nil { return nil }
    return ParserState(line: line, recordCount: recordNumber, details: details)
  }

  /// The text of last time where nothing has changed since.
  private var details: String {
    let isFresh = shape == .unknown && leftOut.counted.isEmpty
    if isFresh && (dialect.format == .ndjson || !document.hasStarted) { return "" }
    if lastDetails.shape == shape && lastDetails.countedCount == leftOut.counted.count
      && (dialect.format == .ndjson || lastDetails.document.isSame(as: document))
    {
      return lastDetails.text
    }
    var out = JSONText()
    out.beginObject()
    if shape != .unknown {
      out.key("shape")
      out.string(shape == .objects ? "objects" : "arrays")
    }
    if shape == .arrays { out.member("header", header.names) }
    if !leftOut.counted.isEmpty { out.member("left_out", leftOut.counted.sorted()) }
    if dialect.format == .json {
      out.key("document")
      document.write(to: &out)
    }
    out.endObject()
    lastDetails.shape = shape
    lastDetails.countedCount = leftOut.counted.count
    lastDetails.document = document
    lastDetails.text = String(decoding: out.bytes, as: UTF8.self)
    return lastDetails.text
  }

  package mutating func resume(from state: ParserState) throws(UpsurgeError) {
    line = state.line
    recordNumber = state.recordCount
    if state.details.isEmpty { return }
    guard let details = try? JSONValue(state.details), case .object = details else {
      throw state.error(file: file)
    }
    switch details["shape"] {
    case nil: shape = .unknown
    case .text("objects"): shape = .objects
    case .text("arrays"):
      guard let names = details["header"]?.texts, !names.isEmpty else { throw state.error(file: file) }
      shape = .arrays
      header.names = names
      header.slots = names.map { columnNames.slot(of: $0) }
    default: throw state.error(file: file)
    }
    if let keys = details["left_out"] {
      guard let names = keys.texts, names.count <= JSONLeftOutKeys.nameLimit else {
        throw state.error(file: file)
      }
      leftOut.counted = Set(names)
    }
    if dialect.format == .json {
      guard let value = details["document"], document.read(value, dialect: dialect) else {
        throw state.error(file: file)
      }
    }
  }
}

/// The details that a parser has given last; most batches end where the one before did.
final class JSONParserDetails: @unchecked Sendable {
  // Sendable because it belongs to one parser, which is on one thread at a time.
  var text = ""
  var shape = JSONParser.Shape.unknown
  var countedCount = -1
  var document: JSONDocumentState

  init(dialect: JSONDialect) { document = JSONDocumentState(dialect: dialect) }
}

extension JSONDocumentState {
  func isSame(as other: JSONDocumentState) -> Bool {
    matchedCount == other.matchedCount && isFound == other.isFound && recordDepth == other.recordDepth
      && hasStarted == other.hasStarted && isFollowing == other.isFollowing && isAtHeader == other.isAtHeader
      && isAtLineEnd == other.isAtLineEnd && numbers == other.numbers && brackets == other.brackets
  }

  /// All of the machine but its brackets and what the dialect says.
  private var numbers: SIMD16<Int32> {
    var all = SIMD16<Int32>()
    all[0] = machine.watch_depth
    all[1] = Int32(machine.state)
    all[2] = machine.is_key ? 1 : 0
    all[3] = machine.is_passing ? 1 : 0
    all[4] = Int32(machine.more)
    all[5] = Int32(machine.low)
    all[6] = Int32(machine.high)
    all[7] = Int32(machine.literal)
    all[8] = Int32(machine.literal_count)
    return all
  }

  private static let numberCount = 9

  /// The open brackets, from the outside.
  private var brackets: String {
    withUnsafeBytes(of: machine.stack) { stack in
      var text = ""
      for level in 0..<Int(machine.depth) { text += stack[level / 8] >> (level % 8) & 1 != 0 ? "{" : "[" }
      return text
    }
  }

  func write(to out: inout JSONText) {
    out.beginObject()
    out.key("machine")
    out.beginArray()
    for index in 0..<Self.numberCount { out.number(Int64(numbers[index])) }
    out.endArray()
    out.key("open")
    out.string(brackets)
    out.key("matched")
    out.number(UInt64(matchedCount))
    out.key("found")
    out.bool(isFound)
    out.key("started")
    out.bool(hasStarted)
    if let recordDepth {
      out.key("records")
      out.number(Int64(recordDepth))
    }
    if isFollowing {
      out.key("following")
      out.bool(true)
      out.key("at_header")
      out.bool(isAtHeader)
      out.key("at_line_end")
      out.bool(isAtLineEnd)
    }
    out.endObject()
  }

  /// Takes over what `write(to:)` wrote.
  /// - Returns: false when it is something else; the state is of no use then.
  mutating func read(_ value: JSONValue, dialect: JSONDialect) -> Bool {
    guard case .array(let values) = value["machine"], values.count == Self.numberCount,
      let open = value["open"]?.text?.utf8, open.count <= Int(machine.depth_limit),
      open.allSatisfy({ $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") }),
      let matched = value.count("matched", atMost: dialect.jsonPath.count),
      case .bool(let found) = value["found"], case .bool(let started) = value["started"]
    else { return false }
    let numbers = values.map { value in
      if case .integer(let number) = value { number } else { Int64.min }
    }
    // A word is left as soon as its last byte is met.
    let wordByteCounts: [Int64] = [4, 4, 5]
    guard (-1...Int64(machine.depth_limit) + 1).contains(numbers[0]),
      (0...Int64(UPSURGE_STATE_EXPONENT)).contains(numbers[1]),
      numbers[2...3].allSatisfy({ $0 == 0 || $0 == 1 }), numbers[4...6].allSatisfy({ 0...255 ~= $0 }),
      (0...2).contains(numbers[7]), (0...wordByteCounts[Int(numbers[7])]).contains(numbers[8])
    else { return false }
    let isInLiteral = numbers[1] == Int64(UPSURGE_STATE_LITERAL)
    if isInLiteral && numbers[8] == wordByteCounts[Int(numbers[7])] { return false }
    if let records = value["records"] {
      guard case .integer(let depth) = records, (1...Int64(machine.depth_limit) + 1).contains(depth) else {
        return false
      }
      recordDepth = Int32(depth)
    }
    withUnsafeMutableBytes(of: &machine.stack) { stack in
      for (level, bracket) in open.enumerated() where bracket == UInt8(ascii: "{") {
        stack[level / 8] |= 1 << (level % 8)
      }
    }
    machine.depth = Int32(open.count)
    machine.watch_depth = Int32(numbers[0])
    machine.state = UInt8(numbers[1])
    machine.is_key = numbers[2] == 1
    machine.is_passing = numbers[3] == 1
    machine.more = UInt8(numbers[4])
    machine.low = UInt8(numbers[5])
    machine.high = UInt8(numbers[6])
    machine.literal = UInt8(numbers[7])
    machine.literal_count = UInt8(numbers[8])
    (matchedCount, isFound, hasStarted) = (matched, found, started)
    isFollowing = value["following"] == .bool(true)
    isAtHeader = value["at_header"] == .bool(true)
    isAtLineEnd = value["at_line_end"] == .bool(true)
    return true
  }
}
