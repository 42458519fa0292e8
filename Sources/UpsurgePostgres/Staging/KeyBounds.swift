/// The smallest and the largest key of some records, or of the first part of it, as literals.
struct KeyBounds: Sendable, Equatable {
  var least: [String]
  var most: [String]

  /// Holds for all rows that the records can be about.
  func sql(of key: PostgresIndex, row: String) -> String {
    let names = key.parts.prefix(least.count).compactMap(\.column).map { "\(row).\($0.quotedForPostgres)" }
    guard names.count == least.count, let name = names.first else { return "true" }
    if names.count == 1 { return "\(name) BETWEEN \(least[0]) AND \(most[0])" }
    let list = names.joined(separator: ", ")
    return "(\(list)) >= (\(least.joined(separator: ", "))) AND (\(list)) <= (\(most.joined(separator: ", ")))"
  }

  init(least: [String], most: [String]) {
    (self.least, self.most) = (least, most)
  }

  /// The bounds of rows that are sorted by their key.
  /// - Returns: nil where there are none, or a part has no literal here.
  init?(_ rows: borrowing EncodedRows, _ order: RowOrder) {
    guard order.isSorted, let compare = KeyOrder(rows.shape), let first = order.parts.first else { return nil }
    var (low, high) = (Int(order.rows[first.lowerBound]), Int(order.rows[first.upperBound - 1]))
    for part in order.parts.dropFirst() {
      let (start, end) = (Int(order.rows[part.lowerBound]), Int(order.rows[part.upperBound - 1]))
      if compare.compare(rows.row(start), rows.row(low)) < 0 { low = start }
      if compare.compare(rows.row(end), rows.row(high)) > 0 { high = end }
    }
    self.init(rows, least: low, most: high)
  }

  /// - Parameter least: the row with the smallest key; likewise `most`.
  init?(_ rows: borrowing EncodedRows, least: Int, most: Int) {
    guard let least = Self.literals(rows.row(least), rows.shape), let most = Self.literals(rows.row(most), rows.shape) else { return nil }
    self.init(least: least, most: most)
  }

  private static func literals(_ row: UnsafeRawBufferPointer, _ shape: RecordShape) -> [String]? {
    guard let fields = shape.keyFields else { return nil }
    var literals: [String] = []
    for field in fields {
      guard let bytes = EncodedRow(row).field(field), let literal = literal(bytes, shape.binary(shape.columns[field])) else { return nil }
      literals.append(literal)
    }
    return literals
  }

  private static func literal(_ bytes: UnsafeRawBufferPointer, _ column: BinaryColumn) -> String? {
    var reader = BinaryReader(bytes)
    func moment(_ write: (inout RowBuffer) -> Void) -> String {
      var text = RowBuffer(capacity: 64)
      write(&text)
      return "'\(String(decoding: text.bytes, as: UTF8.self))'::\(column.stagingType)"
    }
    switch column.form {
    case .int2: return reader.integer(Int16.self).map { "(\($0))" }
    case .int4: return reader.integer(Int32.self).map { "(\($0))" }
    case .int8: return reader.integer(Int64.self).map { "'\($0)'::int8" }
    case .bool: return bytes.first.map { $0 == 1 ? "true" : "false" }
    case .text: return String(decoding: bytes, as: UTF8.self).literalForPostgres
    case .bytea, .uuid:
      let digits = Array("0123456789abcdef".utf8)
      let hex = String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
      return column.form == .uuid ? "'\(hex)'::uuid" : "decode('\(hex)', 'hex')"
    case .date: return reader.integer(Int32.self).map { days in moment { MomentText.date(days, into: &$0) } }
    case .time: return reader.integer(Int64.self).map { time in moment { MomentText.time(time, into: &$0) } }
    case .timestamp, .timestamptz:
      return reader.integer(Int64.self).map { time in
        moment { MomentText.timestamp(time, hasZone: column.form == .timestamptz, into: &$0) }
      }
    case .float4, .float8, .numeric, .bpchar, .json, .jsonb, .castText: return nil
    }
  }
}

extension String {
  /// A text as SQL takes it, whatever it holds and whatever `standard_conforming_strings` says.
  var literalForPostgres: String {
    "E'" + replacing("\\", with: "\\\\").replacing("'", with: "''") + "'"
  }
}
