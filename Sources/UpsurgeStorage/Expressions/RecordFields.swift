import UpsurgeSQLite

/// The fields of records that SQL may speak of.
package struct RecordFields: Sendable {
  package let names: [String]
  /// Whether each value is a text, as in CSV.
  package let isText: Bool
  /// Fields of CSV that are read as yes and no, which are the texts 1 and 0.
  package var flags: Set<Int> = []
  /// New names of fields, which SQL does not see.
  package var renames: [String: String] = [:]
  /// Whether records may have fields that nobody has looked for yet.
  package var hasMore = false

  package init(_ names: [String], isText: Bool) { (self.names, self.isText) = (names, isText) }

  /// The field that has another name in the table.
  func field(renamed name: String) -> String? {
    renames.filter { SQLName.isSame($0.value, name) }.keys.sorted().first
  }

  /// The first names as SQL writes them, and how many more there are.
  var list: String {
    let shown = 50
    let rest = names.count > shown ? ", and \(names.count - shown) more" : ""
    return names.prefix(shown).map(SQLName.written).joined(separator: ", ") + rest
  }
}
