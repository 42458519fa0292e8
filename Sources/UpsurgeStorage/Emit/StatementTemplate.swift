import UpsurgeRecords
import UpsurgeSQLite

/// A statement with parameters, cut up so that literals can be put in their places.
///
///     INSERT INTO "t" ("k", "v") VALUES | (?, ?) | ON CONFLICT ("k") DO UPDATE SET "v" = excluded."v"
///                 head                    tuple          tail
///
/// Where all parameters stand in the one tuple after VALUES, tuples of many records share a statement.
final class StatementTemplate {
  /// What stands before the tuple; empty without one.
  let head: [UInt8]
  /// What stands after the tuple.
  let tail: [UInt8]
  /// Whether statements of many tuples can be made.
  let isPackable: Bool
  /// The texts between the parameters of the tuple (of the statement, where it is not packable).
  private let segments: [[UInt8]]
  /// Which parameter, from 0, follows each segment but the last.
  let parameters: [Int]

  init(_ sql: String) {
    let bytes = Array(sql.utf8)
    let marks = StatementTemplate.marks(bytes)
    let isPackable =
      marks.tuple.map { tuple in marks.parameters.allSatisfy { tuple.contains($0.range.lowerBound) } }
      ?? false
    let whole = isPackable ? marks.tuple ?? bytes.indices : bytes.indices
    head = Array(bytes[..<whole.lowerBound])
    tail = Array(bytes[whole.upperBound...])
    self.isPackable = isPackable
    var segments: [[UInt8]] = []
    var start = whole.lowerBound
    for parameter in marks.parameters {
      segments.append(Array(bytes[start..<parameter.range.lowerBound]))
      start = parameter.range.upperBound
    }
    segments.append(Array(bytes[start..<whole.upperBound]))
    self.segments = segments
    parameters = marks.parameters.map(\.index)
  }

  /// Appends the tuple (the statement, where it is not packable) with a literal for each parameter.
  func append(to sql: inout [UInt8], literal: (_ parameter: Int, inout [UInt8]) -> Void) {
    for (segment, parameter) in zip(segments, parameters) {
      sql += segment
      literal(parameter, &sql)
    }
    sql += segments[segments.count - 1]
  }

  /// Bytes of the whole statement with its semicolon.
  /// - Parameter literalByteCount: how long the literal of each parameter is.
  func byteCount(_ literalByteCount: (_ parameter: Int) -> Int) -> Int {
    let text = segments.reduce(0) { $0 + $1.count }
    return head.count + parameters.reduce(text) { $0 + literalByteCount($1) } + tail.count + 1
  }

  // MARK: - Scanning

  private struct Marks {
    var parameters: [(range: Range<Int>, index: Int)] = []
    var tuple: Range<Int>?
  }

  /// Finds `?` and `?3` outside of quotes, and the parentheses after VALUES.
  private static func marks(_ bytes: [UInt8]) -> Marks {
    var marks = Marks()
    var at = 0
    var depth = 0
    var tupleStart: Int?
    var isBehindValues = false
    var last = -1
    while at < bytes.count {
      let start = at
      at += 1
      switch bytes[start] {
      case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
        // A doubled quote ends one literal and begins the next, which comes to the same.
        while at < bytes.count && bytes[at] != bytes[start] { at += 1 }
        at += 1
      case UInt8(ascii: "["):
        while at < bytes.count && bytes[at - 1] != UInt8(ascii: "]") { at += 1 }
      case UInt8(ascii: "-") where at < bytes.count && bytes[at] == bytes[start]:
        while at < bytes.count && bytes[at] != 0x0A { at += 1 }
      case UInt8(ascii: "/") where at < bytes.count && bytes[at] == UInt8(ascii: "*"):
        at += 2
        while at < bytes.count && !(bytes[at - 1] == UInt8(ascii: "*") && bytes[at] == bytes[start]) {
          at += 1
        }
        at += 1
      case UInt8(ascii: "?"):
        while at < bytes.count && isDigit(bytes[at]) { at += 1 }
        last = Int(String(decoding: bytes[(start + 1)..<at], as: UTF8.self)).map { $0 - 1 } ?? last + 1
        marks.parameters.append((start..<at, last))
      case UInt8(ascii: "("):
        if depth == 0 && isBehindValues && marks.tuple == nil { tupleStart = start }
        depth += 1
      case UInt8(ascii: ")"):
        depth -= 1
        if depth == 0, let open = tupleStart {
          marks.tuple = open..<at
          tupleStart = nil
        }
      case let byte where isLetter(byte):
        while at < bytes.count && (isLetter(bytes[at]) || isDigit(bytes[at])) { at += 1 }
        isBehindValues = SQLName.isSame(String(decoding: bytes[start..<at], as: UTF8.self), "values")
        continue
      case 0x20, 0x0A: continue
      default: break
      }
      isBehindValues = false
    }
    return marks
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7A || byte == 0x5F || byte >= 0x80
  }
}
