/// What the parser must know of a column to make its cells: the table's side of one slot in a record.
package struct ColumnTarget: Sendable, Equatable {
  /// What happens to text whose spelling the column's affinity would change (`007` into an INTEGER column).
  package enum SpellingPolicy: Sendable {
    /// A table made by this run: the record is rejected with `would-change`.
    case reject
    /// A table that existed: SQLite's rules hold, and the change is counted as a warning.
    case warn
    /// The column distinguishes the rows of a table that existed: as `reject`, and also of a number that is only written otherwise
    /// (`7.0`, `2.50`), because two keys would be one.
    case key
    /// The column distinguishes the rows of a table that this run makes: otherwise as `key`.
    case newKey
  }

  /// The column's name in the table.
  package var name: String
  package var affinity: Affinity
  package var spellingPolicy: SpellingPolicy
  /// Whether the column was declared as one of BLOBs, so that `--blob` decodes its text.
  package var isBlob: Bool
  /// Whether a number that is only written otherwise (`3.10`, `1e+05`) is counted as a warning.
  package var reportsSpelling = false
  /// Whether a decimal beyond all doubles (`1e400`, `1e-400`) stays text, which the database refuses: SQLite stores infinity or zero.
  package var keepsOutOfRange = false
  /// Whether `9e999` of JSON is infinity in a column of texts, where other numbers keep their digits.
  package var readsInfinity = false

  /// Whether the column is one of decimals that keep their digits, so that its values are numbers and texts to the parser.
  package var isDecimal = false

  /// Whether the column's values are numbers.
  package var isNumber: Bool { affinity.isNumeric || isDecimal }

  /// Whether the spelling of texts counts, which become numbers.
  package var isKeyOfNumbers: Bool {
    (spellingPolicy == .key || spellingPolicy == .newKey) && affinity.isNumeric
  }

  package init(
    name: String, affinity: Affinity, spellingPolicy: SpellingPolicy, isBlob: Bool = false
  ) {
    self.name = name
    self.affinity = affinity
    self.spellingPolicy = spellingPolicy
    self.isBlob = isBlob
  }
}
