import Upsurge
import UpsurgeRecords

/// Shows a file of changes each row that a statement writes, as it was and as it is then. The rows come by a copy, so that no more
/// than one of them is held.
final class ToldRows {
  let file: ChangeFile
  /// Makes a failure of an error of ours, with which the transaction ends.
  private let refuse: (UpsurgeError) -> PostgresFailure
  /// The table's columns as they are now.
  private(set) var columns = ToldColumns(columns: [])
  /// What lines name as the place of their records.
  private var source = ""
  /// The number in the source of each record of the batch.
  private var numbers: [UInt64] = []
  /// Whether a text in the column may be an infinity, which no number of JSON is.
  private var isReal: [Bool] = []
  private var texts = RowBuffer()

  init(_ file: ChangeFile, refuse: @escaping (UpsurgeError) -> PostgresFailure) {
    (self.file, self.refuse) = (file, refuse)
  }

  /// Says what the table is from now on.
  /// - Parameters:
  ///   - name: as lines name it.
  ///   - key: the columns by which records find their rows.
  func begin(_ table: PostgresTable, name: String, key: [String]) {
    columns = ToldColumns(columns: table.columns)
    isReal = table.columns.map { [.float4, .float8].contains(BinaryColumn($0).form) }
    file.begin(table: name, columns: table.columns.map(\.name), key: key)
  }

  /// Says of which records the next rows are.
  func begin(_ batch: borrowing Batch, of source: String) {
    self.source = source
    numbers.removeAll(keepingCapacity: true)
    for record in 0..<batch.recordCount { numbers.append(batch.records[record].number) }
  }

  /// Says that the next rows are of no record.
  /// - Parameter source: the last one of the delivery, which lacks them.
  func end(of source: String) {
    self.source = source
    numbers.removeAll()
  }

  // MARK: - What is taken back

  var end: ChangeFile.Mark { file.end }

  /// Forgets what was told after a place.
  func takeBack(to mark: ChangeFile.Mark) throws(PostgresFailure) {
    do throws(UpsurgeError) {
      try file.takeBack(to: mark)
    } catch {
      throw refuse(error)
    }
  }

  // MARK: - Rows

  /// Runs a statement, and shows the rows that it returns.
  /// - Parameters:
  ///   - sql: SELECT with the columns of `ToldColumns`.
  ///   - head: statements before it.
  ///   - records: the record in the batch of each place; nil for rows that are of no record.
  /// - Returns: what became of the records, and how many of them were to be written, where the statement says so.
  func tell(
    _ sql: String, after head: [String] = [], records: [Int32]?, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> (counts: StatementCounts, foundCount: Int?) {
    var rows = Rows(self, records)
    var decoder = BinaryDecoder(columns.binaryColumns)
    let cells = UnsafeMutablePointer<Cell>.allocate(capacity: columns.binaryColumns.count)
    cells.initialize(repeating: .null, count: columns.binaryColumns.count)
    defer { cells.deallocate() }
    let copy = "COPY (\(sql)) TO STDOUT (FORMAT binary)"
    try connection.copyOut((head + [copy]).joined(separator: "; ")) { (message) throws(PostgresFailure) in
      texts.count = 0
      if try decoder.row(message, into: cells, &texts) { try rows.take(cells) }
      return true
    }
    return (rows.counts, rows.foundCount)
  }

  /// The rows of one statement.
  private struct Rows {
    private let told: ToldRows
    private let records: [Int32]?
    private var (inserted, updated, kept, deleted, missing) = (0, 0, 0, 0, 0)
    private(set) var foundCount: Int?
    /// A row that is changed, as it was, and the place of its record.
    private var before: (place: Int?, row: [SQLValue])?

    init(_ told: ToldRows, _ records: [Int32]?) { (self.told, self.records) = (told, records) }

    var counts: StatementCounts {
      StatementCounts(inserted: inserted, updated: updated, kept: kept, deleted: deleted, missing: missing)
    }

    mutating func take(_ cells: UnsafeMutablePointer<Cell>) throws(PostgresFailure) {
      let place = cells[0].kind == .integer ? Int(Int64(bitPattern: cells[0].payload)) : nil
      switch ToldColumns.Kind(rawValue: Int64(bitPattern: cells[1].payload)) {
      case .inserted:
        inserted += 1
        try write(.inserted, place, nil, values(cells))
      case .before: before = (place, values(cells))
      case .after:
        updated += 1
        // Of rows that are of no record nobody knows which is which.
        let isSame = place != nil && before?.place == place
        try write(.updated, place, isSame ? before?.row : nil, values(cells))
        before = nil
      case .deleted:
        deleted += 1
        try write(.deleted, place, values(cells), nil)
      case .kept: kept = place ?? 0
      case .missing: missing = place ?? 0
      case .found: foundCount = place ?? 0
      case nil: throw PostgresFailure(.other, "the server has sent rows of another kind")
      }
    }

    private func values(_ cells: UnsafeMutablePointer<Cell>) -> [SQLValue] {
      told.isReal.indices.map { told.value(cells[$0 + 2], isReal: told.isReal[$0]) }
    }

    private func write(
      _ outcome: Outcome, _ place: Int?, _ before: [SQLValue]?, _ after: [SQLValue]?
    ) throws(PostgresFailure) {
      // A trigger may have made another row of the record than its own.
      let record = place.flatMap { place in
        records.flatMap { $0.indices.contains(place) ? Int($0[place]) : nil }
      }
      do throws(UpsurgeError) {
        try told.file.write(
          outcome, at: Position(file: told.source, record: record.map { told.numbers[$0] }), before: before,
          after: after)
      } catch {
        throw told.refuse(error)
      }
    }
  }

  private func value(_ cell: Cell, isReal: Bool) -> SQLValue {
    switch cell.kind {
    case .absent, .null: return .null
    case .integer: return .integer(Int64(bitPattern: cell.payload))
    case .real: return .real(Double(bitPattern: cell.payload))
    case .text:
      let text = String(decoding: bytes(of: cell), as: UTF8.self)
      // NaN stays a text, as no JSON has it.
      if isReal, text.hasSuffix("Infinity") { return .real(text.hasPrefix("-") ? -.infinity : .infinity) }
      return .text(text)
    case .blob: return .blob(Array(bytes(of: cell)))
    }
  }

  private func bytes(of cell: Cell) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: texts.base + Int(truncatingIfNeeded: cell.payload), count: Int(cell.byteCount))
  }
}
