/// Values of a database's row as a line of JSON, from which exactly the same values come back.
///
///     {"id":9007199254740993,"price":1.0,"name":"Ann","note":null,"photo":{"$base64":true,"encoded":"AQI="}}
///
/// A number with a point or an exponent is REAL, any other INTEGER; `9e999` is infinity. A BLOB is an object, as sqlite-utils spells
/// it. Values are added to bytes of the caller, who may hand them on at any place.
package enum RowLine {
  /// What stands before each value: `{"id":`, `,"name":`.
  package static func keys(_ names: [String]) -> [[UInt8]] {
    names.enumerated().map { index, name in
      var text = JSONText()
      text.string(name)
      return [UInt8(ascii: index == 0 ? "{" : ",")] + text.bytes + [UInt8(ascii: ":")]
    }
  }

  /// What ends a row.
  package static let end = [UInt8(ascii: "}"), 0x0A]

  package static let null = Array("null".utf8)

  /// Between these stands a BLOB in base64.
  package static let blobStart = Array(#"{"$base64":true,"encoded":""#.utf8)
  package static let blobEnd = Array(#""}"#.utf8)

  package static func append(_ value: Int64, to line: inout [UInt8]) {
    if value < 0 { line.append(UInt8(ascii: "-")) }
    var rest = value.magnitude
    let start = line.count
    repeat {
      line.append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    line[start...].reverse()
  }

  /// - Parameter value: no NaN.
  package static func append(_ value: Double, to line: inout [UInt8]) {
    line += (value.isFinite ? "\(value)" : value < 0 ? "-9e999" : "9e999").utf8
  }

  /// Adds a text, or a part of one, without its quotes. Most texts hold nothing that must be escaped.
  package static func append(text: UnsafeRawBufferPointer, to line: inout [UInt8]) {
    let isPlain = text.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    if isPlain { return line.append(contentsOf: text) }
    var json = JSONText()
    json.string(bytes: text.bindMemory(to: UInt8.self))
    line += json.bytes.dropFirst().dropLast()
  }
}
