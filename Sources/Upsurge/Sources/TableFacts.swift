/// What the reading thread must know of the table to find a column for each field.
package struct TableFacts: Sendable {
  package let name: String
  /// Whether this run made the table: then columns that appear later are added, and spellings are kept.
  package let isNew: Bool
  /// Columns of a table that existed; empty for a new one.
  package let columns: [ColumnTarget]
  /// Whether columns that the table lacks are added.
  package let addsColumns: Bool
  /// Whether files after the one that made the table bring it no columns, as the contract was said to be frozen.
  package var isFrozen = false
  /// Whether records with values for which the table has no column are kept until it has; those stay what they are.
  package var quarantinesUnknown = false
  /// Whether fields for which the table has no column are left out: a delete needs its key alone.
  package var leavesOutUnknown = false
  /// Whether earlier records were read with the same SQL, so that fields of it that are not there may have been there.
  var mayLackFields = false
  /// Whether there is no table at all: values are looked at as they are.
  var isForInference = false
  /// The most columns of a table; what SQLite is built with where nothing else is said.
  package var columnLimit = 2_000
  /// Columns of a table that existed that no record fills: generated ones.
  package var unfilledColumnCount = 0
  /// What fields that are named as the rowid would be.
  var rowid = Rowid.none
  private let places: ColumnRegistry

  /// How a table has a rowid.
  enum Rowid: Equatable {
    /// The table has no rowid, or columns have all its names.
    case none
    /// This column is the rowid.
    case column(String)
    /// The rowid has no column, and can be the key.
    case free
    /// The table has another PRIMARY KEY.
    case beside

    init(of schema: TableSchema) {
      if schema.kind != .table || schema.isWithoutRowid || schema.rowidName == nil {
        self = .none
      } else if let alias = schema.rowidAlias {
        self = .column(schema.columns[alias].name)
      } else {
        self = schema.primaryKeyColumns.isEmpty ? .free : .beside
      }
    }

    /// Whether a field that the table has no column for would be the rowid.
    func isNamed(_ name: String) -> Bool {
      self != .none && ["rowid", "oid", "_rowid_"].contains { SQLName.isSame($0, name) }
    }
  }

  package init(
    name: String, isNew: Bool, columns: [ColumnTarget], addsColumns: Bool, quarantinesUnknown: Bool = false,
    isForInference: Bool = false
  ) {
    self.name = name
    self.isNew = isNew
    self.columns = columns
    self.addsColumns = addsColumns
    self.quarantinesUnknown = quarantinesUnknown
    self.isForInference = isForInference
    places = ColumnRegistry(columns)
  }

  /// The table's column of that name, in any case.
  package func column(named name: String) -> ColumnTarget? { places.slot(named: name).map { places.targets[$0] } }

  /// The most columns of records that name all of the table's.
  var recordColumnLimit: Int { columnLimit - unfilledColumnCount }

  /// The limit, where so many new columns beside those of the table and of the run are more.
  func limit(exceededBy newCount: Int, beside known: [ColumnTarget]) -> Int? {
    if isForInference { return nil }
    let added = known.count { column(named: $0.name) == nil }
    return columns.count + unfilledColumnCount + added + newCount > columnLimit ? columnLimit : nil
  }

  /// What becomes of a JSON key for which there is no column.
  var unknownKeys: JSONKeyPolicy.UnknownKey {
    if isForInference || quarantinesUnknown { return .addUntyped }
    if leavesOutUnknown { return .skip }
    if isFrozen { return .refuse(table: name) }
    return isNew || addsColumns ? .add(spellingPolicy) : .refuse(table: name)
  }

  /// Whether a field without a column gets one, in the table or in the records alone.
  var takesUnknown: Bool { !isFrozen && (isNew || addsColumns) || quarantinesUnknown }

  var spellingPolicy: ColumnTarget.SpellingPolicy { isNew ? .reject : .warn }
}
