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
    func known(_ wanted: String, option: String) throws(UpsurgeError) -> String {
      guard let name = names.first(where: { SQLName.folded($0) == SQLName.folded(wanted) }) else {
        throw UpsurgeError(
          .usage, "\(option) names the column \"\(wanted)\", which the input does not have",
          hint: "its columns are: \(names.joined(separator: ", "))")
      }
      return name
    }
    var types: [String: String] = [:]
    for (column, type) in options.types
    where mustKnowTypes || names.contains(where: { SQLName.isSame($0, column) }) {
      types[SQLName.folded(try known(column, option: "--type"))] = type
    }
    var key: [String] = []
    for column in options.key where !LoadOptions.isExpression(column, columns: names) {
      let name = try known(column, option: "--key")
      if key.contains(where: { SQLName.isSame($0, name) }) {
        throw UpsurgeError(.usage, "--key names the column \"\(name)\" twice")
      }
      key.append(name)
    }
    var columns = inferred.map {
      Column(
        name: $0.name,
        declaredType: types[SQLName.folded($0.name)] ?? $0.type.declaration(isStrict: options.isStrict))
    }
    for column in options.notNullColumns {
      let name = try known(column, option: "--not-null")
      for index in columns.indices where SQLName.isSame(columns[index].name, name) {
        columns[index].isNotNull = true
      }
    }
    for (column, value) in options.defaults {
      let name = try known(column, option: "--default")
      for index in columns.indices where SQLName.isSame(columns[index].name, name) {
        columns[index].defaultValue = value
      }
    }
    if let column = options.rules.softColumn, !names.contains(where: { SQLName.isSame($0, column) }) {
      columns.append(Column(name: column, declaredType: "TEXT"))
    }
    self.init(name: name, columns: columns, keyColumns: key, isStrict: options.isStrict)
  }
}
