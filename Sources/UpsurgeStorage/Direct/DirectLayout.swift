import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

/// How the records of one input become the pages of a new table and its indexes, without SQLite.
///
/// What SQLite would do with a record is known only for plain tables; `read` says of others why not. Nor is it known for
/// every record of a plain table: `DirectTable` stops at one that is not.
package struct DirectLayout: Sendable {
  /// What a table has come to.
  package enum Finding: Sendable {
    case fits(DirectLayout)
    /// In words that follow "the table".
    case unsupported(Wording)
  }

  /// One tree of the file.
  struct Tree: Sendable {
    var root: UInt32
    /// An index, or a WITHOUT ROWID table.
    var isIndex: Bool
    var columns: [RecordEncoder.Column]
    /// The first so many columns must ascend.
    var keyCount = 0
    /// Whether equal keys are a conflict.
    var isUnique = false
  }

  /// What a column takes whatever the value is; bits by `Cell.Kind`.
  struct Guard: Sendable {
    var cellIndex: Int32
    var allowed: UInt8
    /// The kinds whose value must be looked at.
    var doubtful: UInt8 = 0
    /// Whether a decimal becomes a float here, also as text.
    var takesDecimals = false
  }

  /// The table first.
  var trees: [Tree] = []
  var guards: [Guard] = []
  /// The cell of the INTEGER PRIMARY KEY; nil where rows are numbered as they come, or have no number.
  var rowidCell: Int?
  /// A text, BLOB or record beyond this is too large for SQLite.
  var lengthLimit = 1_000_000_000
  let table: String

  private init(table: String) { self.table = table }

  /// Whether keys may have to be sorted.
  package var hasIndexes: Bool { trees.contains(where: \.isIndex) }

  /// Looks at a table that was just made and is empty.
  /// - Parameters:
  ///   - plan: for the table as it is now.
  ///   - connection: to the file that the table was made in, with all of it committed.
  package static func read(_ plan: UpsertPlan, on connection: Connection) throws(UpsurgeError) -> Finding {
    if let reason = reason(against: plan) { return .unsupported(reason) }
    if try connection.text("PRAGMA main.encoding") != "UTF-8" {
      return .unsupported("is in a database whose text is not UTF-8")
    }
    if try connection.integer("PRAGMA main.auto_vacuum") != 0 {
      return .unsupported("is in a database with auto_vacuum")
    }
    let name = try SQLName.quote(plan.schema.name)
    if try connection.integer("SELECT 1 FROM main.\(name) LIMIT 1") != nil {
      return .unsupported("has rows")
    }
    var layout = DirectLayout(table: plan.schema.name)
    layout.lengthLimit = connection.lengthLimit
    if let reason = try layout.readTrees(plan, on: connection) { return .unsupported(Wording(reason)) }
    layout.guards = layout.makeGuards(plan)
    return .fits(layout)
  }

  /// Why the records of a plan cannot be packed by us; nil when they may.
  private static func reason(against plan: UpsertPlan) -> Wording? {
    let schema = plan.schema
    if schema.kind != .table { return "does not hold its rows itself" }
    if plan.mode == .update || plan.mode == .delete {
      return "is only looked up in mode \(plan.mode.rawValue)"
    }
    if plan.tombstoneCell != nil { return "may lose rows by \(.deleteWhen)" }
    if !plan.unknownCells.isEmpty { return "lacks columns of the input" }
    if !schema.triggers.isEmpty { return "has triggers" }
    if !schema.foreignKeys.isEmpty || !schema.referencingKeys.isEmpty { return "has foreign keys" }
    if schema.hasCheck { return "has a CHECK" }
    if schema.hasAutoincrement { return "counts its rows by AUTOINCREMENT" }
    if schema.hasComputedIndex { return "has a partial index or one on an expression" }
    var isSpoken = [Bool](repeating: false, count: schema.columns.count)
    for slot in plan.slots { isSpoken[slot.columnIndex] = true }
    for (index, column) in schema.columns.enumerated() {
      let name = column.name.escapedForTerminal
      if column.generation != .none || column.isHidden { return "computes the column \(name)" }
      if !isSpoken[index] && column.defaultExpression != nil {
        return "has a default for the column \(name), which the input lacks"
      }
      if !isSpoken[index] && (column.isNotNull || column.keyOrdinal > 0) {
        return "needs the column \(name), which the input lacks"
      }
    }
    return nil
  }

  // MARK: - Trees

  private mutating func readTrees(
    _ plan: UpsertPlan, on connection: Connection
  ) throws(UpsurgeError) -> String? {
    let schema = plan.schema
    var columns = schema.columns.map { _ in RecordEncoder.Column.null }
    for slot in plan.slots {
      let affinity = schema.columns[slot.columnIndex].affinity
      columns[slot.columnIndex] = RecordEncoder.Column(
        cellIndex: Int32(slot.cellIndex), storage: NumberStorage(affinity))
      if slot.columnIndex == schema.rowidAlias { rowidCell = slot.cellIndex }
    }
    if let alias = schema.rowidAlias { columns[alias] = .null }
    let roots = try Self.roots(schema.name, on: connection)
    guard let root = roots[schema.name.nameKey] else { return "has no place in the file" }
    if !schema.isWithoutRowid { trees.append(Tree(root: root, isIndex: false, columns: columns)) }
    let indexes = try connection.prepare(
      "SELECT name, \"unique\", origin FROM pragma_index_list(?1, 'main') ORDER BY seq DESC")
    try indexes.bind(schema.name, at: 1)
    while try indexes.step() {
      let name = indexes.text(at: 0) ?? ""
      let isTable = schema.isWithoutRowid && indexes.text(at: 2) == "pk"
      if schema.isWithoutRowid && !isTable { return "is WITHOUT ROWID and has another index" }
      guard let root = isTable ? root : roots[name.nameKey] else {
        return "has an index without a place in the file"
      }
      var tree = Tree(root: root, isIndex: true, columns: [], isUnique: indexes.integer(at: 1) != 0)
      if let reason = try tree.readParts(
        index: name, columns: columns, alias: schema.rowidAlias, on: connection)
      {
        return reason
      }
      trees.append(tree)
    }
    return nil
  }

  private static func roots(
    _ table: String, on connection: Connection
  ) throws(UpsurgeError) -> [String: UInt32] {
    let statement = try connection.prepare(
      "SELECT name, rootpage FROM main.sqlite_schema WHERE tbl_name = ?1 AND rootpage > 1")
    try statement.bind(table, at: 1)
    var roots: [String: UInt32] = [:]
    while try statement.step() {
      roots[(statement.text(at: 0) ?? "").nameKey] = UInt32(truncatingIfNeeded: statement.integer(at: 1))
    }
    return roots
  }

  // MARK: - Values

  private func makeGuards(_ plan: UpsertPlan) -> [Guard] {
    let schema = plan.schema
    var keyCells: Set<Int32> = []
    for tree in trees where tree.isUnique {
      for column in tree.columns[..<tree.keyCount] { keyCells.insert(column.cellIndex) }
    }
    return plan.slots.map { slot in
      let column = schema.columns[slot.columnIndex]
      let isRowid = slot.columnIndex == schema.rowidAlias
      let mustBe = isRowid || column.isNotNull || keyCells.contains(Int32(slot.cellIndex))
      var kinds = isRowid ? Kinds(sure: [.integer]) : Kinds(column, isStrict: schema.isStrict)
      if mustBe && kinds.sure & kindBit(.real) != 0 {
        // NaN is stored as NULL.
        kinds.sure &= ~kindBit(.real)
        kinds.doubtful |= kindBit(.real)
      }
      if !mustBe { kinds.sure |= kindBit(.null) }
      if !mustBe && column.defaultExpression == nil { kinds.sure |= kindBit(.absent) }
      return Guard(
        cellIndex: Int32(slot.cellIndex), allowed: kinds.sure, doubtful: kinds.doubtful,
        takesDecimals: !isRowid && kinds.takesDecimals)
    }
  }

  /// The kinds of cells of which we know what a column makes.
  private struct Kinds {
    var sure: UInt8
    var doubtful: UInt8 = 0
    var takesDecimals = false

    init(sure: [Cell.Kind]) { self.sure = sure.reduce(0) { $0 | kindBit($1) } }

    init(_ column: TableSchema.Column, isStrict: Bool) {
      if isStrict {
        switch SQLName.folded(column.declaredType) {
        case "int", "integer": self.init(sure: [.integer])
        case "real":
          self.init(sure: [.integer, .real])
          takesDecimals = true
        case "text": self.init(sure: [.text])
        case "blob": self.init(sure: [.blob])
        default: self.init(sure: [.integer, .real, .text, .blob])
        }
        return
      }
      switch column.affinity {
      case .none: self.init(sure: [.integer, .real, .text, .blob])
      case .text: self.init(sure: [.text, .blob])
      case .integer, .numeric, .real:
        self.init(sure: [.integer, .real, .blob])
        doubtful = kindBit(.text)
        takesDecimals = true
      }
    }
  }
}

extension DirectLayout.Tree {
  /// Reads the columns of an index.
  /// - Returns: why it cannot be; nil when it can.
  fileprivate mutating func readParts(
    index: String, columns tableColumns: [RecordEncoder.Column], alias: Int?, on connection: Connection
  ) throws(UpsurgeError) -> String? {
    let parts = try connection.prepare(
      "SELECT cid, desc, coll, key FROM pragma_index_xinfo(?1, 'main') ORDER BY seqno")
    try parts.bind(index, at: 1)
    while try parts.step() {
      let column = Int(parts.integer(at: 0))
      let isKey = parts.integer(at: 3) != 0
      if isKey {
        if column < 0 || column == alias {
          return "has an index on an expression or on its INTEGER PRIMARY KEY"
        }
        if parts.integer(at: 1) != 0 { return "has a key in descending order" }
        if !SQLName.isSame(parts.text(at: 2) ?? "", "BINARY") {
          return "has a key with the collation \((parts.text(at: 2) ?? "").escapedForTerminal)"
        }
        if tableColumns[column].cellIndex < 0 { return "has a key on a column that the input lacks" }
        keyCount += 1
      }
      columns.append(column < 0 || column == alias ? .rowid : tableColumns[column])
    }
    return nil
  }
}

/// The bit of a kind of cells.
@inline(__always)
func kindBit(_ kind: Cell.Kind) -> UInt8 {
  // The kinds are numbered from 0 on; asking for `rawValue` would be a call.
  1 &<< unsafeBitCast(kind, to: UInt8.self)
}

extension Cell {
  /// Whether it is a text or BLOB.
  @inline(__always)
  var hasBytes: Bool {
    switch kind {
    case .text, .blob: true
    default: false
    }
  }
}
