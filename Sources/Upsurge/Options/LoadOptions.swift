/// Everything that can be said about a load, by topic; the defaults are those of `upsurge load`.
///
///     var options = LoadOptions()
///     options.input.format = .csv
///     options.rules.target = .columns(["id"])
///     options.transaction.isAtomic = true
public struct LoadOptions: Sendable {
  /// How the bytes of the sources become records.
  public var input = Input()
  /// Which table is stored into, what may happen to it, and what its columns are.
  public var table = Table()
  /// Which row a record is about, and how that row changes.
  public var rules = UpsertRules()
  /// What indexes the table is to have, and when they are kept up.
  public var indexes = IndexRules()
  /// How records become transactions, and how long and large those may get.
  public var transaction = Transaction()
  /// What becomes of records that cannot be stored.
  public var rejects = Rejects()
  /// What is shown of a run, or only tried out.
  public var output = Output()
  /// What a mirror knows of the feed that this is a delivery of.
  package var delivery = Delivery()
  /// For tests and benchmarks: the result does not depend on it.
  package var tuning = Tuning()
  /// What the program that runs the load brings along.
  package var environment = Environment()

  public init() {}
}

extension LoadOptions {
  /// Whether SQL looks at each record before it gets its columns.
  package var shapesRecords: Bool { !table.computedColumns.isEmpty || input.filter != nil }

  /// The SQL of computed columns and of the filter, as one text; empty without both.
  var shapingWords: String {
    let computed = table.computedColumns.map { "\n\($0.name)=\($0.sql)" }.joined()
    return computed + (input.filter.map { "\nwhere \($0)" } ?? "")
  }
}

extension LoadOptions.Table {
  /// Where `--ragged extra` keeps surplus fields.
  static let extraColumn = "extra"

  /// Whether SQL makes the values of a column.
  func isComputed(_ column: String) -> Bool { computedColumns.contains { SQLName.isSame($0.name, column) } }
}
