/// The statements of the delta path.
///
///     CREATE TEMPORARY TABLE upsurge_delta ON COMMIT DROP AS SELECT s.*, … AS upsurge_fresh FROM staging LEFT JOIN t … WHERE it differs
///     UPDATE t SET … FROM upsurge_delta AS s WHERE NOT s.upsurge_fresh AND …
///     INSERT INTO t … SELECT … FROM upsurge_delta AS s WHERE s.upsurge_fresh
///
/// The statements name only the columns that the records have: an UPDATE of a row needs no value for the others, as ON CONFLICT would.
///
/// Where most records change their row, the rows are changed before (`direct`), right from the staging table. What is left for the
/// others is little, or nothing.
struct DeltaPlan {
  static let name = "upsurge_delta"
  static let table = "pg_temp.\(name)"

  let shape: RecordShape
  let key: PostgresIndex

  init(_ shape: RecordShape) {
    guard let key = shape.key else { preconditionFailure("the delta path needs a key") }
    self.shape = shape
    self.key = key
  }

  /// The statements as people may read them.
  var shownSQL: String {
    creation(RecordShape.everything, nil) + ";\n" + writing(RecordShape.everything, nil)
  }

  /// Records that are to be written.
  func selection(_ part: Range<Int>, _ bounds: KeyBounds?) -> String {
    "SELECT s.*, \(RecordShape.isNew) AS upsurge_fresh \(shape.found(key, in: part, bounds: bounds))\(shape.filter)"
  }

  /// Makes the table, with what is to be written of a part.
  func creation(_ part: Range<Int>, _ bounds: KeyBounds?) -> String {
    "CREATE TEMPORARY TABLE \(Self.name) ON COMMIT DROP AS \(selection(part, bounds))"
  }

  /// Adds what is to be written of a part.
  func addition(_ part: Range<Int>, _ bounds: KeyBounds?) -> String {
    "INSERT INTO \(Self.table) \(selection(part, bounds))"
  }

  /// nil where a row never changes.
  func update(_ part: Range<Int>, _ bounds: KeyBounds?, from source: String = Self.table) -> String? {
    update(part, bounds, from: source, where: "NOT s.upsurge_fresh AND ")
  }

  /// Changes rows of records that nobody has looked for before.
  func direct(_ part: Range<Int>, _ bounds: KeyBounds?) -> String? {
    update(part, bounds, from: shape.typed(key, from: RecordShape.staging), where: "")
  }

  private func update(_ part: Range<Int>, _ bounds: KeyBounds?, from source: String, where first: String) -> String? {
    let changed = shape.changedColumns
    guard shape.rules.conflict == .update, !changed.isEmpty else { return nil }
    let sets = changed.map { "\($0.name.quotedForPostgres) = s.\($0.name.quotedForPostgres)" }
    var terms = key.parts.compactMap(\.column).map {
      "upsurge_row.\($0.quotedForPostgres) = s.\($0.quotedForPostgres)"
    }
    if let bounds { terms.append(bounds.sql(of: key, row: "upsurge_row")) }
    return
      "UPDATE \(shape.table.ownRows) AS upsurge_row SET \(sets.joined(separator: ", ")) FROM \(source) AS s"
      + " WHERE \(first)\(shape.slice(part)) AND \(terms.joined(separator: " AND "))"
      + " AND \(shape.differs(row: "upsurge_row", record: "s"))"
  }

  func insertion(_ part: Range<Int>, from source: String = Self.table) -> String {
    "\(shape.insertHead)SELECT \(shape.values("s")) FROM \(source) AS s"
      + " WHERE s.upsurge_fresh AND \(shape.slice(part)) ORDER BY s.upsurge_ord"
  }

  /// All of it at once, without a table; it gives one row: how many are to be written, updated, inserted.
  func writing(_ part: Range<Int>, _ bounds: KeyBounds?) -> String {
    let update = update(RecordShape.everything, bounds, from: "m").map { "u AS (\($0) RETURNING 1), " } ?? ""
    let insertion = insertion(RecordShape.everything, from: "m")
    return "WITH m AS MATERIALIZED (\(selection(part, bounds))), \(update)i AS (\(insertion) RETURNING 1)"
      + " SELECT (SELECT count(*) FROM m), \(update.isEmpty ? "0" : "(SELECT count(*) FROM u)"), (SELECT count(*) FROM i)"
  }

  /// Whether somebody else has stored a row under the key since it was looked for.
  func isKeyTaken(_ failure: PostgresFailure) -> Bool {
    guard failure.sqlState == "23505" else { return false }
    // Partitions have names of their own for it.
    return failure.constraint == key.name || shape.table.uniqueIndexes.count == 1
  }
}
