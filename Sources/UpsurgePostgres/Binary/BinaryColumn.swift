/// How the values of a column are written in COPY's binary format.
package struct BinaryColumn: Sendable, Equatable {
  package enum Form: UInt8, Sendable {
    case int2, int4, int8, float4, float8, numeric, bool, text, bpchar, bytea, uuid, date, time, timestamp, timestamptz
    case json, jsonb
    /// A type that is not known here: its text, which the statement casts.
    case castText
  }

  package var form: Form
  /// The letters of varchar(n) and char(n), the precision of numeric, the digits of seconds; -1 for no bound.
  var limit: Int = -1
  /// The scale of numeric(p, s), which may be negative.
  var scale: Int = 0

  package init(_ form: Form) { self.form = form }

  /// The form of a base type.
  /// - Parameter modifier: the type's own, as the catalogue has it; -1 for none.
  package init(type: UInt32, modifier: Int32) {
    form = Self.forms[type] ?? .castText
    guard modifier >= 0 else { return }
    switch form {
    case .text, .bpchar: limit = type == PostgresType.varchar || type == PostgresType.bpchar ? Int(modifier) - 4 : -1
    case .numeric where modifier >= 4:
      limit = Int((modifier - 4) >> 16) & 0xFFFF
      scale = (Int(modifier - 4) & 0x7FF ^ 0x400) - 0x400
    case .time, .timestamp, .timestamptz: limit = Int(modifier)
    default: break
    }
  }

  package init(_ column: PostgresColumn) { self.init(type: column.baseType, modifier: column.modifier) }

  private static let forms: [UInt32: Form] = [
    PostgresType.int2: .int2, PostgresType.int4: .int4, PostgresType.int8: .int8, PostgresType.float4: .float4,
    PostgresType.float8: .float8, PostgresType.numeric: .numeric, PostgresType.bool: .bool, PostgresType.text: .text,
    PostgresType.varchar: .text, PostgresType.bpchar: .bpchar, PostgresType.bytea: .bytea, PostgresType.uuid: .uuid,
    PostgresType.date: .date, PostgresType.time: .time, PostgresType.timestamp: .timestamp,
    PostgresType.timestamptz: .timestamptz, PostgresType.json: .json, PostgresType.jsonb: .jsonb,
  ]

  /// The type of the column in a staging table.
  package var stagingType: String {
    switch form {
    case .int2: "int2"
    case .int4: "int4"
    case .int8: "int8"
    case .float4: "float4"
    case .float8: "float8"
    case .numeric: "numeric"
    case .bool: "bool"
    case .text, .castText: "text"
    case .bpchar: limit >= 0 ? "bpchar(\(limit))" : "bpchar"
    case .bytea: "bytea"
    case .uuid: "uuid"
    case .date: "date"
    case .time: "time"
    case .timestamp: "timestamp"
    case .timestamptz: "timestamptz"
    case .json: "json"
    case .jsonb: "jsonb"
    }
  }

  /// Whether equal values are equal bytes, so that keys can be compared without the server. Floats have two zeros and numerics
  /// several scales; texts need a deterministic collation besides.
  package var hasUniqueBytes: Bool {
    switch form {
    case .int2, .int4, .int8, .bool, .text, .bytea, .uuid, .date, .time, .timestamp, .timestamptz: true
    case .float4, .float8, .numeric, .bpchar, .json, .jsonb, .castText: false
    }
  }
}
