/// What the reading thread must know of the table to find a column for each field.
struct TableFacts: Sendable {
  let name: String
  /// Whether this run made the table: then columns that appear later are added, and spellings are kept.
  let isNew: Bool
  /// Columns of a table that existed; empty for a new one.
  let columns: [ColumnTarget]
  /// Whether columns that the table lacks are added.
  let addsColumns: Bool
  /// Whether records with values for which the table has no column are kept until it has; those stay what they are.
  var quarantinesUnknown = false
  /// Whether fields for which the table has no column are left out: a delete needs its key alone.
  var leavesOutUnknown = false
  /// Whether there is no table at all: values are looked at as they are.
  var isForInference = false

  /// The table's column of that name, in any case.
  func column(named name: String) -> ColumnTarget? {
    let lowercased = SQLName.folded(name)
    return columns.first { SQLName.folded($0.name) == lowercased }
  }

  /// What becomes of a JSON key for which there is no column.
  var unknownKeys: JSONKeyPolicy.UnknownKey {
    if isForInference || quarantinesUnknown { return .addUntyped }
    if leavesOutUnknown { return .skip }
    return isNew || addsColumns ? .add(spellingPolicy) : .refuse(table: name)
  }

  /// Whether a field without a column gets one, in the table or in the records alone.
  var takesUnknown: Bool { isNew || addsColumns || quarantinesUnknown }

  var spellingPolicy: ColumnTarget.SpellingPolicy { isNew ? .reject : .warn }
}
