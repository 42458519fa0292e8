import UpsurgeSQLite

/// What comes after the rows, in its order.
struct Finishing {
  var keys: [MoveStep] = []
  var indexes: [MoveStep] = []
  var foreignKeys: [MoveStep] = []
  var numberings: [MoveStep] = []
  var comments: [MoveStep] = []
  private var names: Set<String> = []

  var steps: [MoveStep] { keys + indexes + foreignKeys + numberings + comments }

  /// - Returns: whether no other index has the name.
  mutating func takeName(_ name: String) -> Bool { names.insert(SQLName.folded(name)).inserted }

  mutating func addNumberings(of tables: [PlannedTable]) {
    for table in tables {
      guard let column = table.numbered else { continue }
      numberings.append(
        MoveStep(title: "numbering of \(table.name)", work: .numbering(table: table.name, column: column)))
    }
  }

  /// Notes names that indexes cannot have.
  mutating func reserve(_ taken: [String]) { names.formUnion(taken.map(SQLName.folded)) }
}

extension ForeignKeyShape {
  /// With the columns that it refers to, and all names as their tables spell them.
  func resolved(in table: TableShape, parent: TableShape) -> ForeignKeyShape {
    var key = self
    key.parent = parent.name
    if key.parentColumns.isEmpty { key.parentColumns = parent.primaryKey }
    key.columns = columns.map { table.column($0)?.name ?? $0 }
    key.parentColumns = key.parentColumns.map { parent.column($0)?.name ?? $0 }
    return key
  }

  /// `FOREIGN KEY (…) REFERENCES … (…) ON DELETE CASCADE`.
  func clause(parent name: String) -> String {
    var text = "FOREIGN KEY (\(columns.quotedAsNames)) REFERENCES \(name) (\(parentColumns.quotedAsNames))"
    if onDelete != "NO ACTION" { text += " ON DELETE \(onDelete)" }
    if onUpdate != "NO ACTION" { text += " ON UPDATE \(onUpdate)" }
    return text + (isDeferred ? " DEFERRABLE INITIALLY DEFERRED" : "")
  }
}

extension IndexShape {
  /// What follows the table in CREATE INDEX, in the words of the other side.
  func clause(in table: TableShape, _ translation: PortableExpression) -> Result<
    String, PortableExpression.Obstacle
  > {
    if let obstacle { return .failure(.init(reason: obstacle)) }
    do throws(PortableExpression.Obstacle) {
      var list: [String] = []
      for part in parts {
        let name = (table.column(part.text)?.name ?? part.text).quotedAsName
        let text = part.isColumn ? name : "(\(try translation.translated(part.text)))"
        list.append(text + (part.isDescending ? " DESC" : ""))
      }
      let condition = try predicate.map { (text) throws(PortableExpression.Obstacle) in
        " WHERE \(try translation.translated(text))"
      }
      return .success("(\(list.joined(separator: ", ")))\(condition ?? "")")
    } catch {
      return .failure(error)
    }
  }
}
