import UpsurgeRecords
import UpsurgeSQLite

/// A record as a JSON object, from which exactly the same cells come back.
///
///     {"id":9007199254740993,"price":1.0,"name":"Ann","note":null,"photo":{"$base64":true,"encoded":"AQI="}}
///
/// Fields that the record does not speak of are left out. A number with a point or an exponent is REAL, any other
/// is INTEGER; `9e999` is infinity. A BLOB is an object, as sqlite-utils spells it.
enum RecordText {
  static func write(
    _ batch: borrowing Batch, _ record: Int, names: [String], to out: inout JSONText
  ) {
    let row = batch.cells + record * batch.columnCount
    out.beginObject()
    for index in 0..<min(batch.columnCount, names.count) where row[index].kind != .absent {
      out.key(names[index])
      out.cell(row[index], of: batch)
    }
    out.endObject()
  }

  /// The fields of a record in order.
  /// - Throws: `badInput` for what is no such record.
  static func read(_ text: String) throws(UpsurgeError) -> [QuarantinedRecord.Field] {
    guard case .object(let members) = try JSONValue(text) else { throw fault(text) }
    var fields: [QuarantinedRecord.Field] = []
    fields.reserveCapacity(members.count)
    for member in members {
      fields.append(QuarantinedRecord.Field(name: member.name, value: try value(member.value, text)))
    }
    return fields
  }

  private static func value(_ json: JSONValue, _ text: String) throws(UpsurgeError) -> SQLValue {
    switch json {
    case .null: return .null
    case .bool(let flag): return .integer(flag ? 1 : 0)
    case .integer(let number): return .integer(number)
    case .real(let number): return .real(number)
    case .text(let text): return .text(text)
    case .object:
      guard json["$base64"] == .bool(true), let bytes = json["encoded"]?.text.flatMap(Base64.decode) else {
        throw fault(text)
      }
      return .blob(bytes)
    case .array: throw fault(text)
    }
  }

  private static func fault(_ text: String) -> UpsurgeError {
    UpsurgeError(
      .badInput, "the kept record cannot be understood", snippet: String(text.prefix(120)).escapedForTerminal)
  }
}

extension JSONText {
  /// A cell; one that is absent becomes NULL.
  mutating func cell(_ cell: Cell, of batch: borrowing Batch) {
    switch cell.kind {
    case .absent, .null: null()
    case .integer: number(Int64(bitPattern: cell.payload))
    case .real: exact(Double(bitPattern: cell.payload))
    case .text: string(bytes: batch.bytes(of: cell))
    case .blob: blob(Array(batch.bytes(of: cell)))
    }
  }

  /// A value that came from SQLite.
  mutating func value(_ value: SQLValue) {
    switch value {
    case .null: null()
    case .integer(let value): number(value)
    case .real(let value): exact(value)
    case .text(let value): string(value)
    case .blob(let bytes): blob(bytes)
    }
  }

  private mutating func blob(_ bytes: [UInt8]) {
    beginObject()
    key("$base64")
    bool(true)
    member("encoded", Base64.encode(bytes))
    endObject()
  }
}
