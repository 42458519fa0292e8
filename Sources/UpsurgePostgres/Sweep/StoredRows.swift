import UpsurgeRecords

/// What the rows of a feed were when a delivery of it was stored. Where any of it is different, others have written to the table
/// since, or it is another table, and all of the next delivery is compared.
///
///     table     the OIDs and files of the table and its partitions, and how many columns each has ever had, as a hash
///     floor     the oldest transaction that was open before the delivery's: all that write later have a number from it on
///     rows      how many rows there are
///     new       how many of them are of transactions from the floor on: those that the delivery has written, and no others
///     sums      over the numbers of those transactions, and over hashes of them
///
/// Whoever inserts or changes a row afterwards makes one more of the new ones, or another sum. Whoever deletes one leaves fewer.
struct StoredRows: Sendable, Equatable {
  var table: String
  var floor: UInt64
  var rowCount: Int64
  var new: NewRows

  /// Rows of transactions from a floor on.
  struct NewRows: Sendable, Equatable {
    var count: Int64 = 0
    var sum: Int64 = 0
    var hashSum: Int64 = 0

    /// Reads them from three columns of a row.
    init(_ row: PostgresRow?, from first: Int) {
      count = row?.integer(first) ?? 0
      sum = row?.integer(first + 1) ?? 0
      hashSum = row?.integer(first + 2) ?? 0
    }

    static func + (left: NewRows, right: NewRows) -> NewRows {
      var all = left
      all.count += right.count
      all.sum &+= right.sum
      all.hashSum &+= right.hashSum
      return all
    }
  }

  // MARK: - As a text

  var text: String { "\(table) \(floor) \(rowCount) \(new.count) \(new.sum) \(new.hashSum)" }

  /// - Returns: nil for a text that is not one.
  init?(text: some StringProtocol) {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 6, let floor = UInt64(words[1]), let rowCount = Int64(words[2]), let count = Int64(words[3]),
      let sum = Int64(words[4]), let hashSum = Int64(words[5])
    else { return nil }
    self.init(table: String(words[0]), floor: floor, rowCount: rowCount, new: NewRows(nil, from: 0))
    (new.count, new.sum, new.hashSum) = (count, sum, hashSum)
  }

  init(table: String, floor: UInt64, rowCount: Int64, new: NewRows) {
    (self.table, self.floor, self.rowCount, self.new) = (table, floor, rowCount, new)
  }

  // MARK: - Asked of the server

  /// What the table is, whatever its rows.
  /// - Parameter name: quoted.
  /// - Returns: nil without one, and where its rows do not say which transaction has made them.
  static func table(_ name: String, _ connection: PostgresConnection) throws(PostgresFailure) -> String? {
    let row = try connection.run(
      """
      SELECT string_agg(concat_ws(' ', c.oid, c.relfilenode, c.relnatts), ',' ORDER BY c.oid),
        bool_and(c.relkind = 'p' OR coalesce(m.amname = 'heap', false))
      FROM pg_class AS c LEFT JOIN pg_am AS m ON m.oid = c.relam
      WHERE c.oid = to_regclass($1) OR c.oid IN (SELECT relid FROM pg_partition_tree(to_regclass($1)))
      """, [.text(name)]
    ).first
    guard let words = row?.text(0), row?.flag(1) == true else { return nil }
    return String(Array(words.utf8).withUnsafeBytes { ContentHash.hash($0) }, radix: 16)
  }

  /// The floor of what is written from now on.
  static let nextFloor = "pg_snapshot_xmin(pg_current_snapshot())::text"

  /// Whether numbers of transactions since a floor can still be told from those before it: they come again after 4 billions.
  /// - Parameter next: the floor of now.
  static func isNear(_ floor: UInt64, next: UInt64) -> Bool { next >= floor && next - floor < 1_500_000_000 }

  /// SQL that is true of a row that a transaction from a floor on has made. Rows whose numbers seem to be far ahead are very old.
  static func isNew(_ alias: String, since floor: UInt64) -> String {
    "age(\(alias).xmin) BETWEEN -100000000 AND (SELECT age('\(floor & 0xFFFF_FFFF)'::xid))"
  }

  /// Counts the new ones among rows, as three columns.
  /// - Parameter condition: SQL that is true of the rows that count, beside being new.
  static func newRows(of rows: SweptRows, since floor: UInt64, where condition: String, more: String = "") -> String {
    let number = "(((SELECT age('3'::xid)::bigint + 3) - age(\(rows.alias).xmin)) & 4294967295)"
    return """
      SELECT count(*), coalesce(sum(\(number)), 0)::bigint, coalesce(sum(hashint8(\(number))), 0)\(more)
      FROM \(rows.table) WHERE \(isNew(rows.alias, since: floor)) AND (\(condition))
      """
  }
}
