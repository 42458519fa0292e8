import GRDB

/// The same row as a record of GRDB. It encodes itself by hand, because `Codable` costs more.
struct NarrowRecord: PersistableRecord {
  static let databaseTableName = "narrow"

  var row: Narrow

  func encode(to container: inout PersistenceContainer) {
    container["id"] = row.id
    container["name"] = row.name
    container["category"] = row.category
    container["quantity"] = row.quantity
    container["price"] = row.price
    container["updated_at"] = row.updatedAt
  }
}
