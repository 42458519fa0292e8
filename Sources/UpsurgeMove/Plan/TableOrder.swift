import UpsurgeSQLite

/// Tables in the order of their foreign keys: a parent before its children, where there is no circle.
enum TableOrder {
  static func sorted(_ tables: [TableShape]) -> [TableShape] {
    var (left, sorted): ([TableShape], [TableShape]) = (tables, [])
    while !left.isEmpty {
      // In a circle the first one by name goes first.
      let next = left.firstIndex { table in
        !table.foreignKeys.contains { key in
          !SQLName.isSame(key.parent, table.name) && left.contains { SQLName.isSame($0.name, key.parent) }
        }
      }
      sorted.append(left.remove(at: next ?? left.startIndex))
    }
    return sorted
  }
}
