/// Where in the input something is.
public struct Position: Sendable, Hashable, CustomStringConvertible {
  /// The source as the user named it; `-` for standard input.
  public var file: String
  /// Number of the record in its file, from 1; headers, comments and blank lines are not records.
  public var record: UInt64?
  /// Number of the physical line on which the record starts, from 1.
  public var line: UInt64?
  /// Offset of the record's first byte in the decompressed (and, where needed, transcoded) stream, from 0.
  public var byte: UInt64?

  public init(file: String, record: UInt64? = nil, line: UInt64? = nil, byte: UInt64? = nil) {
    self.file = file
    self.record = record
    self.line = line
    self.byte = byte
  }

  /// `feed.csv, line 7, record 6, byte 120`; parts that are not known are left out.
  public var description: String {
    var text = file
    if let line { text += ", line \(line)" }
    if let record { text += ", record \(record)" }
    if let byte { text += ", byte \(byte)" }
    return text
  }
}
