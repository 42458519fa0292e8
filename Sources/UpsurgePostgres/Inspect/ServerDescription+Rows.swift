import Upsurge
import UpsurgeRecords

extension ServerDescription.Column {
  /// - Parameter row: of the query for columns.
  init(_ row: PostgresRow) {
    let expression = row.text(4)
    let generation: String? =
      switch (row.text(5), row.text(6)) {
      case ("a", _): "ALWAYS AS IDENTITY"
      case ("d", _): "BY DEFAULT AS IDENTITY"
      case (_, "s"), (_, "v"): "ALWAYS AS (\(expression ?? ""))"
      default: nil
      }
    self.init(
      name: row.text(1) ?? "", type: row.text(2) ?? "", isNotNull: row.flag(3) ?? false,
      defaultExpression: generation == nil ? expression : nil, collation: row.text(7), generation: generation)
  }
}

extension ServerDescription.Trigger {
  /// The bits of `tgtype` in words: 1 for each row, 2 before, 64 instead of, and 4, 8, 16, 32 for what it is about.
  static func moment(_ bits: Int) -> String {
    let time = bits & 64 != 0 ? "INSTEAD OF" : bits & 2 != 0 ? "BEFORE" : "AFTER"
    let events = [(4, "INSERT"), (16, "UPDATE"), (8, "DELETE"), (32, "TRUNCATE")].filter { bits & $0.0 != 0 }
      .map(\.1)
    return "\(time) \(events.joined(separator: " OR ")), for each \(bits & 1 != 0 ? "row" : "statement")"
  }
}

extension ServerDescription.Table {
  /// - Parameter row: of the query for indexes. The first part of an index begins it.
  mutating func addIndexPart(_ row: PostgresRow) {
    let (name, isKey) = (row.text(1) ?? "", row.flag(3) == true)
    let isConstraint = row.flag(4) == true
    let predicate = row.text(5)
    let part = (name: row.text(8) ?? row.text(9) ?? "", isColumn: row.text(8) != nil)
    let isFirst = row.integer(7) == 1
    if isKey {
      let kind = row.flag(2) == true ? "PRIMARY KEY" : isConstraint ? "UNIQUE" : "UNIQUE INDEX"
      var parts = [part]
      if !isFirst, let last = keys.popLast() {
        let columnNames = Set(columns.map(\.name))
        parts = last.parts.map { ($0, columnNames.contains($0)) } + parts
      }
      keys.append(
        DatabaseDescription.Key(
          kind: kind, indexName: isConstraint ? nil : name, parts: parts, predicate: predicate))
    } else if isFirst {
      indexes.append(
        DatabaseDescription.Index(
          name: name, parts: [part.name], isPartial: predicate != nil, sql: row.text(6) ?? ""))
    } else {
      indexes[indexes.count - 1].parts.append(part.name)
    }
  }

  /// - Parameter row: of the query for foreign keys. The first column of a key begins it.
  mutating func addForeignKeyPart(_ row: PostgresRow) {
    if row.integer(1) == 1 {
      let parent = TableName.asSource(
        schema: row.flag(5) == true ? nil : row.text(3), name: row.text(4) ?? "")
      foreignKeys.append(DatabaseDescription.ForeignKey(columns: [], parentTable: parent, parentColumns: []))
    }
    foreignKeys[foreignKeys.count - 1].columns.append(row.text(2) ?? "")
    foreignKeys[foreignKeys.count - 1].parentColumns.append(row.text(6) ?? "")
  }

  /// - Parameter row: of the query for policies. The first role of a policy begins it.
  mutating func addPolicyPart(_ row: PostgresRow) {
    let role = row.text(6) ?? ""
    if row.integer(7) != 1 { return policies[policies.count - 1].roles.append(role) }
    let commands = ["r": "SELECT", "a": "INSERT", "w": "UPDATE", "d": "DELETE"]
    policies.append(
      ServerDescription.Policy(
        name: row.text(1) ?? "", command: commands[row.text(2) ?? ""] ?? "ALL",
        isPermissive: row.flag(3) ?? true,
        roles: [role], using: row.text(4), check: row.text(5)))
  }
}
