/// Rows as arrays, one a column: parameters of a statement that has them as its source.
///
///     (SELECT * FROM unnest($1::int4[], $2::int8[], $3::text[]) AS u(upsurge_ord, "id", "a"))
struct RowArrays {
  private let shape: RecordShape

  init(_ shape: RecordShape) { self.shape = shape }

  /// The source of records, for statements.
  var source: String {
    let types = ["int4"] + shape.binaryColumns.map(\.arrayElement.name)
    let list = types.enumerated().map { "$\($0 + 1)::\($1)[]" }.joined(separator: ", ")
    let arrays = "SELECT * FROM unnest(\(list)) AS u(\((["upsurge_ord"] + shape.names).joined(separator: ", ")))"
    // Texts of an array have the database's collation; beside columns of the table they take those of the columns.
    guard shape.key != nil, shape.columns.contains(where: { ($0.collation?.name ?? "default") != "default" }) else { return "(\(arrays))" }
    let columns = zip(shape.names, shape.binaryColumns).map { "\($0)::\($1.arrayElement.name)" }
    return "(SELECT 0::int4 AS upsurge_ord, \(columns.joined(separator: ", ")) FROM \(shape.table.quotedName) WHERE false UNION ALL \(arrays))"
  }

  /// Some rows.
  /// - Parameter places: those that are left, in their order.
  func parameters(_ rows: EncodedRows.View, _ order: RowOrder, _ places: [Int]) -> [PostgresParameter] {
    let elements = shape.binaryColumns.map(\.arrayElement)
    var ords = Self.header(PostgresType.int4, places.count)
    for place in places {
      for number in [4, Int32(truncatingIfNeeded: place)] { withUnsafeBytes(of: number.bigEndian) { ords += $0 } }
    }
    var arrays = elements.map { Self.header($0.type, places.count) }
    for place in places {
      let bytes = rows.row(Int(order.rows[place]))
      let row = EncodedRow(bytes)
      var start = 2
      for field in arrays.indices {
        let end = start + 4 + max(0, row.length(at: start))
        arrays[field].append(contentsOf: bytes[start..<end])
        start = end
      }
    }
    return [.binary(type: 1007, ords)] + zip(elements, arrays).map { .binary(type: $0.arrayType, $1) }
  }

  /// One dimension from 1 on, which may hold NULLs.
  private static func header(_ type: UInt32, _ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count * 12 + 32)
    for number in [1, 1, type, UInt32(truncatingIfNeeded: count), 1] { withUnsafeBytes(of: number.bigEndian) { bytes += $0 } }
    return bytes
  }
}

extension BinaryColumn {
  /// The type of an array's elements, and the OID of the array's own.
  var arrayElement: (name: String, type: UInt32, arrayType: UInt32) {
    switch form {
    case .int2: ("int2", PostgresType.int2, 1005)
    case .int4: ("int4", PostgresType.int4, 1007)
    case .int8: ("int8", PostgresType.int8, 1016)
    case .float4: ("float4", PostgresType.float4, 1021)
    case .float8: ("float8", PostgresType.float8, 1022)
    case .numeric: ("numeric", PostgresType.numeric, 1231)
    case .bool: ("bool", PostgresType.bool, 1000)
    case .text, .castText: ("text", PostgresType.text, 1009)
    case .bpchar: ("bpchar", PostgresType.bpchar, 1014)
    case .bytea: ("bytea", PostgresType.bytea, 1001)
    case .uuid: ("uuid", PostgresType.uuid, 2951)
    case .date: ("date", PostgresType.date, 1182)
    case .time: ("time", PostgresType.time, 1183)
    case .timestamp: ("timestamp", PostgresType.timestamp, 1115)
    case .timestamptz: ("timestamptz", PostgresType.timestamptz, 1185)
    case .json: ("json", PostgresType.json, 199)
    case .jsonb: ("jsonb", PostgresType.jsonb, 3807)
    }
  }
}
