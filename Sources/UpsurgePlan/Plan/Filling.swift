import UpsurgeRecords
import UpsurgeSQLite

/// Values that a record does not have and that SQLite wants before it looks for the conflict.
///
/// SQLite checks NOT NULL and CHECK of the row that would be inserted, even where the row exists and is updated. So what
/// the record leaves out is taken from the row that exists:
///
///     INSERT INTO "t" ("id", "age", "name")
///     SELECT ?1, ?2, "upsurge_old"."name" FROM (SELECT 1) LEFT JOIN
///       (SELECT 1 AS "upsurge_found", * FROM "t" WHERE "t"."id" = ?1 LIMIT 1) AS "upsurge_old" WHERE 1
///     ON CONFLICT ("id") DO UPDATE SET "age" = excluded."age" …
///
/// Where there is no row, the value is NULL and SQLite says what it always says.
struct Filling {
  /// Columns that the record does not have, in table order.
  private(set) var columns: [Int] = []
  /// The values, by column; also of columns that the record has.
  private(set) var values: [Int: String] = [:]
  /// The FROM clause.
  private(set) var source = ""

  var isEmpty: Bool { values.isEmpty }

  init(_ plan: UpsertPlan, present: [UpsertPlan.Slot], _ spelling: Spelling) throws(UpsurgeError) {
    guard plan.mode == .upsert, plan.schema.kind == .table, !plan.targets.isEmpty else { return }
    let schema = plan.schema
    // Most tables want no value; to ask each column of a wide one would take longer than all else.
    if !schema.hasCheck && !schema.columns.contains(where: \.isNotNull) { return }
    let hasFreeSQL = plan.hasFreeSQL
    let places = Dictionary(present.enumerated().map { ($1.columnIndex, $0) }) { first, _ in first }
    for (index, column) in schema.columns.enumerated() {
      if column.generation != .none || column.isHidden || index == schema.rowidAlias { continue }
      let isOfKey = plan.targets.contains { $0.speaks(of: index, in: schema) }
      let old = "\"upsurge_old\".\(try SQLName.quote(column.name))"
      if let place = places[index] {
        // A record that SQLite refuses is tried again by a look-up; this spares the most of them.
        guard column.isNotNull, !isOfKey, present[place].rule.bearsNull,
          index != plan.newerColumn, !hasFreeSQL
        else { continue }
        let value = spelling.value(0, place)
        values[index] = "CASE WHEN \(value) IS NULL THEN \(old) ELSE \(value) END"
      } else if isOfKey {
        // Which target matches is for the record to say.
        continue
      } else if column.isNotNull && column.defaultExpression == nil {
        columns.append(index)
        values[index] = old
      } else if schema.hasCheck {
        columns.append(index)
        let standard = column.defaultExpression ?? "NULL"
        values[index] =
          "CASE WHEN \"upsurge_old\".\"upsurge_found\" IS NULL THEN (\(standard)) ELSE \(old) END"
      }
    }
    if values.isEmpty { return }
    // Of the table's own name, so that a key's expressions mean its columns.
    let found = try plan.lookUp(present, row: 0, spelling)
    source = """
      FROM (SELECT 1) LEFT JOIN
        (SELECT 1 AS "upsurge_found", * FROM \(try SQLName.quote(schema.name)) WHERE \(found) LIMIT 1) AS "upsurge_old" WHERE 1
      """
  }
}

extension MergeRule {
  /// Whether a record with NULL leaves the row's value as it is.
  var ignoresNull: Bool { self == .sum || bearsNull }

  /// Whether NULL of the record and the row's own value come to the same.
  var bearsNull: Bool {
    switch self {
    case .coalesce, .keep, .min, .max: true
    case .replace, .sum, .along, .expression: false
    }
  }
}

extension UpsertPlan {
  /// Whether records of a shape need values of the row that exists, so that each goes into a statement of its own.
  package func needsFilling(_ shape: SlotShape) -> Bool {
    let filling = try? Filling(self, present: present(shape), .numbered)
    return !(filling?.isEmpty ?? true)
  }
}
