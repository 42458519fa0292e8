extension TableDefinition {
  /// The table that holds the inferred columns: types as given by `--type`, else as found.
  /// - Parameter mustKnowTypes: false when columns may still appear, so that a `--type` may be for one of those.
  /// - Throws: `usage` when the key or a `--type` names a column that the input lacks.
  package init(
    name: String, inferred: [InferredColumn], options: LoadOptions, mustKnowTypes: Bool = true
  ) throws(UpsurgeError) {
    if inferred.isEmpty {
      throw UpsurgeError(
        .badInput, "the input has no records and no header, so there is nothing to make a table from",
        hint: "check the input with `upsurge inspect`")
    }
    let names = inferred.map(\.name)
    let places = Dictionary(names.enumerated().map { (SQLName.folded($1), $0) }) { first, _ in first }
    func place(_ wanted: String, option: Term) throws(UpsurgeError) -> Int {
      guard let place = places[SQLName.folded(wanted)] else {
        throw UpsurgeError(
          .usage, "\(saying: option) names the column \"\(wanted)\", which the input does not have",
          hint: "its columns are: \(names.joined(separator: ", "))")
      }
      return place
    }
    var types: [String: String] = [:]
    for (column, type) in options.table.types
    where mustKnowTypes || places[SQLName.folded(column)] != nil {
      types[SQLName.folded(names[try place(column, option: .type)])] = type
    }
    var key: [String] = []
    for column in options.rules.key where !LoadOptions.isExpression(column, columns: names) {
      let name = names[try place(column, option: .key)]
      if key.contains(where: { SQLName.isSame($0, name) }) {
        throw UpsurgeError(.usage, "\(.key) names the column \"\(name)\" twice")
      }
      key.append(name)
    }
    var columns = inferred.map {
      // A STRICT table knows few types.
      let declared = options.table.isStrict ? nil : $0.declaredType
      return Column(
        name: $0.name,
        declaredType: types[SQLName.folded($0.name)] ?? declared
          ?? $0.type.declaration(isStrict: options.table.isStrict))
    }
    for column in options.table.notNullColumns {
      columns[try place(column, option: .notNull)].isNotNull = true
    }
    for (column, value) in options.table.defaults {
      columns[try place(column, option: .default)].defaultValue = value
    }
    if let column = options.rules.softColumn, !names.contains(where: { SQLName.isSame($0, column) }) {
      columns.append(Column(name: column, declaredType: "TEXT"))
    }
    self.init(name: name, columns: columns, keyColumns: key, isStrict: options.table.isStrict)
  }
}
