import UpsurgeRecords

/// What the foreign keys of a database do to rows when those that they refer to are deleted or changed.
///
///     kids (p) REFERENCES parents ON DELETE CASCADE
///     toys (kid) REFERENCES kids (id) ON DELETE SET NULL
///
///     parents deleted  ->  kids deleted  ->  toys (kid) changed
///
/// Each table that is deleted from, and each with the columns that are changed in it, is looked at once, so circles end.
package struct ReferenceActions {
  /// What happens to rows of a table.
  package enum Change: Hashable, Sendable {
    case deleted
    /// In these columns, folded.
    case updated(Set<String>)
  }

  /// A foreign key that acts.
  package struct Step: Sendable, Equatable {
    package var table: String
    package var columns: [String]
    package var parent: String
    package var parentColumns: [String]
    /// `ON DELETE CASCADE`, say.
    package var action: String
    /// Whether it deletes the rows that refer to those which go.
    package var deletes: Bool

    /// As the schema has it.
    package var text: String {
      let named = parentColumns.isEmpty ? "" : " (\(parentColumns.joined(separator: ", ")))"
      return "\(table) (\(columns.joined(separator: ", "))) REFERENCES \(parent)\(named) \(action)"
    }
  }

  private struct Key {
    var table: String
    var columns: [String] = []
    var parent: String
    /// Empty where the PRIMARY KEY is meant.
    var parentColumns: [String] = []
    var onDelete: String
    var onUpdate: String
    /// The columns of the parent that it refers to, folded.
    var referred: Set<String> = []

    func step(_ action: String, on event: String) -> Step {
      Step(
        table: table, columns: columns, parent: parent, parentColumns: parentColumns,
        action: "ON \(event) \(action)", deletes: event == "DELETE" && action == "CASCADE")
    }
  }

  private var keys: [Key] = []

  package init(_ connection: Connection) throws(UpsurgeError) {
    let statement = try connection.prepare(
      """
      SELECT s.name, f.seq, f."table", f."from", f."to", f.on_delete, f.on_update
      FROM sqlite_schema s, pragma_foreign_key_list(s.name) f
      WHERE s.type = 'table' ORDER BY s.name, f.id, f.seq
      """)
    while try statement.step() {
      if statement.integer(at: 1) == 0 {
        keys.append(
          Key(
            table: statement.text(at: 0) ?? "", parent: statement.text(at: 2) ?? "",
            onDelete: (statement.text(at: 5) ?? "").uppercased(),
            onUpdate: (statement.text(at: 6) ?? "").uppercased()))
      }
      keys[keys.count - 1].columns.append(statement.text(at: 3) ?? "")
      if let column = statement.text(at: 4) { keys[keys.count - 1].parentColumns.append(column) }
    }
    let primaryKey = try connection.prepare(
      "SELECT name FROM pragma_table_info(?1, 'main') WHERE pk > 0 ORDER BY pk")
    for index in keys.indices {
      var names = keys[index].parentColumns
      if names.isEmpty {
        try primaryKey.bind(keys[index].parent, at: 1)
        while try primaryKey.step() { names.append(primaryKey.text(at: 0) ?? "") }
        primaryKey.reset()
      }
      keys[index].referred = Set(names.map(SQLName.folded))
    }
  }

  /// Whether foreign keys delete or change rows of a table when others are changed.
  /// - Parameters:
  ///   - change: what happens to rows of `source`.
  ///   - counts: whether what a step does to rows of `target` counts.
  /// - Returns: the foreign keys that lead there, the first to `source`, the last of `target`; nil where none do.
  package func path(
    from source: String, _ change: Change, to target: String, where counts: (Step) -> Bool
  ) -> [Step]? {
    struct Place: Hashable {
      var table: String
      var change: Change
    }
    let first = Place(table: SQLName.folded(source), change: change)
    var seen: Set<Place> = [first]
    var open: [(place: Place, path: [Step])] = [(first, [])]
    var next = 0
    while next < open.count {
      let (place, path) = open[next]
      next += 1
      for key in keys where SQLName.folded(key.parent) == place.table {
        guard let step = action(of: key, when: place.change) else { continue }
        if SQLName.isSame(key.table, target), counts(step) { return path + [step] }
        let child = Place(
          table: SQLName.folded(key.table),
          change: step.deletes ? .deleted : .updated(Set(key.columns.map(SQLName.folded))))
        if seen.insert(child).inserted { open.append((child, path + [step])) }
      }
    }
    return nil
  }

  /// What a foreign key does; nil for nothing.
  private func action(of key: Key, when change: Change) -> Step? {
    switch change {
    case .deleted: return Self.acts(key.onDelete) ? key.step(key.onDelete, on: "DELETE") : nil
    case .updated(let columns):
      guard Self.acts(key.onUpdate), !key.referred.isDisjoint(with: columns) else { return nil }
      return key.step(key.onUpdate, on: "UPDATE")
    }
  }

  private static func acts(_ action: String) -> Bool { action != "NO ACTION" && action != "RESTRICT" }
}
