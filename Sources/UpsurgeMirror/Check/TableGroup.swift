import Upsurge
import UpsurgeRecords
import UpsurgeSQLite

/// Tables of a job that become visible at once, in the order of their foreign keys.
struct TableGroup {
  /// Lists of tables, those that others refer to first. The tables of one list refer to each other in a circle.
  var circles: [[MirrorTable]]
  /// Whether one of them refers to any table, or another one to it.
  var hasReferences: Bool

  var tables: [MirrorTable] { circles.flatMap { $0 } }

  /// Groups tables that refer to each other, by what the database says of them.
  /// - Parameters:
  ///   - connection: nil where there is no database, and no table in it.
  ///   - isOne: whether all tables are one group, whatever they refer to.
  static func groups(
    of tables: [MirrorTable], on connection: Connection?, isOne: Bool
  ) throws(UpsurgeError) -> [TableGroup] {
    try groups(of: tables, isOne: isOne) { (table) throws(UpsurgeError) in
      try connection?.schema(of: table.name)?.foreignKeys.map(\.parentTable) ?? []
    }
  }

  /// Groups tables that refer to each other.
  /// - Parameter parents: the tables that rows of a table refer to.
  static func groups(
    of tables: [MirrorTable], isOne: Bool, parents parentNames: (MirrorTable) throws(UpsurgeError) -> [String]
  ) throws(UpsurgeError) -> [TableGroup] {
    let names = tables.map { SQLName.folded($0.name) }
    var parents: [Set<Int>] = []
    var refers: [Bool] = []
    for table in tables {
      let referred = try parentNames(table).map { SQLName.folded($0) }
      parents.append(Set(referred.compactMap { names.firstIndex(of: $0) }))
      refers.append(!referred.isEmpty)
    }
    let ancestors = tables.indices.map { reachable(from: $0, by: parents) }
    var children = tables.map { _ in Set<Int>() }
    for (child, of) in parents.enumerated() { for parent in of { children[parent].insert(child) } }
    let neighbours = zip(parents, children).map { $0.union($1) }

    var (groups, taken): ([TableGroup], Set<Int>) = ([], [])
    for index in tables.indices where !taken.contains(index) {
      let members =
        isOne ? Set(tables.indices) : reachable(from: index, by: neighbours).union([index])
      taken.formUnion(members)
      groups.append(
        TableGroup(
          circles: ordered(members, ancestors).map { $0.map { tables[$0] } },
          hasReferences: members.contains { refers[$0] }))
    }
    return groups
  }

  /// The members in circles, each after all to which it refers; else in the order of the job.
  private static func ordered(_ members: Set<Int>, _ ancestors: [Set<Int>]) -> [[Int]] {
    var rest = members.sorted()
    var circles: [[Int]] = []
    while !rest.isEmpty {
      // One that refers to none of the others, unless those refer back: there always is one.
      let next = rest.first { index in
        rest.allSatisfy { !ancestors[index].contains($0) || $0 == index || ancestors[$0].contains(index) }
      }
      guard let next else { preconditionFailure("foreign keys have no beginning") }
      let circle = rest.filter { $0 == next || ancestors[next].contains($0) }
      circles.append(circle)
      rest.removeAll { circle.contains($0) }
    }
    return circles
  }

  private static func reachable(from start: Int, by edges: [Set<Int>]) -> Set<Int> {
    var (found, open): (Set<Int>, [Int]) = ([], [start])
    while let next = open.popLast() {
      for index in edges[next] where found.insert(index).inserted { open.append(index) }
    }
    return found
  }
}
