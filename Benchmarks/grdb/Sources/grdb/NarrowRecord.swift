import GRDB

/// A row of the narrow table as an application's record. It encodes itself by hand, because `Codable` costs more.
struct NarrowRecord: PersistableRecord {
  static let databaseTableName = "narrow"

  static let insertSQL = "INSERT INTO narrow VALUES (?, ?, ?, ?, ?, ?)"
  static let upsertSQL =
    insertSQL + " ON CONFLICT(id) DO UPDATE SET name = excluded.name, category = excluded.category, "
    + "quantity = excluded.quantity, price = excluded.price, updated_at = excluded.updated_at"

  var id: Int64
  var name: String
  var category: String
  var quantity: Int64
  var price: Double
  var updatedAt: String

  /// In the table's order.
  var values: StatementArguments { [id, name, category, quantity, price, updatedAt] }

  func encode(to container: inout PersistenceContainer) {
    container["id"] = id
    container["name"] = name
    container["category"] = category
    container["quantity"] = quantity
    container["price"] = price
    container["updated_at"] = updatedAt
  }

  /// The record of one CSV line as `generate narrow csv` writes it, which has no quotes; nil for any other line.
  init?(line: UnsafeRawBufferPointer.SubSequence) {
    let fields = line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
    guard fields.count == 6,
      let id = Int64(String(decoding: fields[0], as: UTF8.self)),
      let quantity = Int64(String(decoding: fields[3], as: UTF8.self)),
      let price = Double(String(decoding: fields[4], as: UTF8.self))
    else { return nil }
    self.id = id
    self.name = String(decoding: fields[1], as: UTF8.self)
    self.category = String(decoding: fields[2], as: UTF8.self)
    self.quantity = quantity
    self.price = price
    self.updatedAt = String(decoding: fields[5], as: UTF8.self)
  }
}
