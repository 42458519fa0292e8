import UpsurgeStorage

/// Makes records of the run's columns from records as they were parsed: by computed columns, a filter, and conversions.
///
///     parsed    price  qty  note          one cell a field, as it is written
///     SQL       total = price*qty         one step of a statement a record; filtered ones go no further
///     shaped    price  note  total        one cell a column of the run, in the place of the parsed ones
///
/// Belongs to one parser, whose records have at least as many cells as there are columns. A record that finds no room for its
/// values, or brings a column of its own after others, waits for the next batch with all that follow it (`PendingRecords`).
final class RecordShaper {
  /// The run's columns, in slot order.
  private(set) var columns: [ColumnTarget]
  /// The column of each parsed cell; nil where it goes to none.
  private var slots: [Int?]
  /// Parsed cells whose field nobody has found a column for yet.
  private var unresolved: [Int]
  private var fieldNames: [String]
  let sql: ComputedColumns
  /// The parsed cell of each field that the SQL speaks of; nil where no record has had it.
  private var sqlCells: [Int?]
  /// Parsed cells whose strings of JSON were read as numbers.
  private let readNumbers: Set<Int>
  /// Columns that no field fills, and somebody else does.
  private let filledLaterCount: Int
  private(set) var converter: FieldConverter
  private let newFields: NewFieldRules?
  let file: String

  /// Cells of one record: as it was parsed, for the SQL, and what that has made.
  private var row: UnsafeMutableBufferPointer<Cell>
  let values: UnsafeMutableBufferPointer<Cell>
  private let results: UnsafeMutableBufferPointer<Cell>

  var pending = PendingRecords()
  /// Cells of a shaped record of the batch in work: a column that comes later is one of the next batch.
  private var rowWidth = 0
  /// Columns that no batch has announced yet.
  private var unannounced: [ColumnTarget] = []
  /// Records that came to nothing in the batch in work.
  private var made: [Reject] = []
  private var madeByteCount = 0

  /// - Parameters:
  ///   - fields: the names of the fields, in the order of the parsed cells.
  ///   - slots: the column of each; one without a column is looked at again when a record has it, where `newFields` says how.
  ///   - readNumbers: the fields whose strings of JSON were read as numbers.
  ///   - filledLaterCount: how many columns are filled when records are shaped.
  init(
    _ sql: ComputedColumns, fields: [String], slots: [Int?], converter: FieldConverter,
    newFields: NewFieldRules?, file: String, readNumbers: Set<Int> = [], filledLaterCount: Int = 0
  ) {
    self.sql = sql
    self.readNumbers = readNumbers
    self.filledLaterCount = filledLaterCount
    self.converter = converter
    self.newFields = newFields
    self.file = file
    self.slots = slots
    fieldNames = fields
    columns = converter.columns
    unresolved =
      newFields.map { rules in fields.indices.filter { slots[$0] == nil && !rules.isPadding(fields[$0]) } }
      ?? []
    sqlCells = sql.places(in: fields)
    row = .allocate(capacity: 0)
    values = .allocate(capacity: max(sql.fieldNames.count, 1))
    results = .allocate(capacity: max(sql.slots.count, 1))
  }

  /// Fields that the SQL speaks of and no record has, as far as is known.
  var lackingFields: [String] { zip(sql.fieldNames, sqlCells).filter { $0.1 == nil }.map(\.0) }

  deinit {
    row.deallocate()
    values.deallocate()
    results.deallocate()
  }

  /// Shapes the records of a batch, which its parser has just made.
  /// - Parameter fields: the parser's columns.
  /// - Throws: `guardRefused` for a field that the table has no column for; the records before it are shaped.
  func shape(_ batch: inout Batch, fields: [ColumnTarget]) throws(UpsurgeError) {
    let count = batch.recordCount
    let width = batch.columnCount
    // Fields that the next batch begins with are none of this one.
    if width > fieldNames.count { adopt(fields.prefix(width)) }
    rowWidth = columns.count
    batch.newColumns += unannounced
    unannounced = []
    batch.recordCount = 0
    batch.hasAbsentCells = false
    if row.count < width {
      row.deallocate()
      row = .allocate(capacity: width)
    }
    let parsedSpillByteCount = batch.spillByteCount
    var last: UInt64?
    var failure: UpsurgeError?
    var record = 0
    while record < count {
      let start = batch.cells + record * width
      for index in 0..<width { row[index] = start[index] }
      let outcome: RecordOutcome
      do throws(UpsurgeError) { outcome = try shape(record, &batch) } catch {
        failure = error
        break
      }
      switch outcome {
      case .stored: break
      case .filtered: last = batch.records[record].number
      case .refused(let reject):
        made.append(reject)
        madeByteCount += reject.raw.count
        if made.count < Batch.rejectLimit && madeByteCount < Batch.rejectedByteLimit { break }
        record += 1
        if record < count { hold(record, of: count, width, parsedSpillByteCount, missing: 0, &batch) }
        record = count
        continue
      case .mustWait(let missing):
        // What was tried may lie in its place.
        for index in 0..<width { start[index] = row[index] }
        hold(record, of: count, width, parsedSpillByteCount, missing: missing, &batch)
        record = count
        continue
      case .cancelled:
        record = count
        continue
      }
      record += 1
    }
    sql.sql.clear()
    if failure != nil {
      batch.rejects.removeAll { ($0.position.record ?? 0) > batch.records[record].number }
      batch.parsedByteCount = Int(batch.records[record].arenaOffset)
    }
    finish(&batch, filteredThrough: last)
    if let failure { throw failure }
  }

  /// What became of a record.
  enum RecordOutcome {
    case stored, filtered, cancelled
    case refused(Reject)
    /// The record is one for the next batch; the spill lacks so many bytes for it.
    case mustWait(missing: Int)
  }

  /// Puts rejects in their order, and says what the batch holds.
  private func finish(_ batch: inout Batch, filteredThrough last: UInt64?) {
    if !made.isEmpty {
      for reject in made { batch.take(reject) }
      batch.rejects.sort { ($0.position.record ?? 0) < ($1.position.record ?? 0) }
      (made, madeByteCount) = ([], 0)
    }
    if let last { batch.filteredThrough = max(last, batch.filteredThrough ?? 0) }
    if batch.recordCount > 0 {
      batch.narrow(columnCount: rowWidth)
    } else {
      batch.begin(columnCount: rowWidth)
    }
    converter.moveWarnings(to: &batch.warnings, file: file)
  }

  // MARK: - One record

  /// Shapes the record in `row`, which has this number in its batch, and stores it after those that are shaped.
  private func shape(_ record: Int, _ batch: inout Batch) throws(UpsurgeError) -> RecordOutcome {
    var text = FieldConverter.Text(batch)
    for place in 0..<sqlCells.count {
      guard let cell = sqlCells[place] else {
        values[place] = .absent
        continue
      }
      values[place] = converter.value(
        ofField: row[cell], text, isReadNumber: !readNumbers.isEmpty && readNumbers.contains(cell))
    }
    guard let start = values.baseAddress else { return .stored }
    switch sql.sql.evaluate(start, batch) {
    case .filtered:
      sql.sql.reset()
      noteNumbers(isKept: false, record, text, &batch)
      return .filtered
    case .failed: return failed(record, batch)
    case .kept: break
    }
    defer { sql.sql.reset() }
    if !unresolved.isEmpty, try findColumns(of: record, &batch) { return .mustWait(missing: 0) }
    converter.begin()
    let spillMark = batch.spillByteCount
    var missing = 0
    for index in 0..<sql.slots.count {
      results[index] = sql.sql.value(of: index, asText: sql.isText[index], &batch, missing: &missing)
    }
    text.spillByteCount = batch.spillByteCount
    let problem = convert(to: batch.cells + batch.recordCount * rowWidth, &text, &missing, &batch)
    if missing > 0 || problem != nil { batch.spillByteCount = spillMark }
    if missing > 0 { return .mustWait(missing: missing) }
    if let problem { return .refused(reject(problem, record, batch)) }
    batch.spillByteCount = text.spillByteCount
    converter.accept(at: batch.position(of: record, file: file))
    noteNumbers(isKept: true, record, text, &batch)
    batch.records[batch.recordCount] = batch.records[record]
    batch.recordCount += 1
    return .stored
  }

  /// Fills the cells of a shaped record.
  /// - Returns: why the record cannot be stored.
  private func convert(
    to output: UnsafeMutablePointer<Cell>, _ text: inout FieldConverter.Text, _ missing: inout Int,
    _ batch: inout Batch
  ) -> RecordProblem? {
    output.update(repeating: .absent, count: columns.count)
    var filledCount = 0
    for cell in 0..<slots.count {
      guard let slot = slots[cell], row[cell].kind != .absent else { continue }
      if output[slot].kind == .absent {
        filledCount += 1
      } else if let problem = collision(slot) {
        return problem
      }
      switch converter.convert(field: row[cell], slot: slot, into: output + slot, &text) {
      case .stored: break
      case .noRoom(let byteCount): missing += byteCount
      case .refused(let problem): return problem
      }
    }
    for index in 0..<sql.slots.count {
      guard let slot = sql.slots[index], !isLeftOut(index) else { continue }
      if output[slot].kind == .absent { filledCount += 1 }
      if case .refused(let problem) = converter.convert(
        value: results[index], slot: slot, into: output + slot, text)
      {
        return problem
      }
    }
    if filledCount + filledLaterCount < columns.count { batch.hasAbsentCells = true }
    return nil
  }

  /// Whether a record does not speak of a computed column: it has none of the fields that the SQL needs, which makes nothing
  /// of that.
  private func isLeftOut(_ index: Int) -> Bool {
    let needs = sql.sql.needs[index]
    return results[index].kind == .null && !needs.isEmpty && needs.allSatisfy { values[$0].kind == .absent }
  }

  // MARK: - Fields and columns

  /// Takes over fields that the parser has met.
  private func adopt(_ fields: ArraySlice<ColumnTarget>) {
    for field in fields.dropFirst(fieldNames.count) {
      unresolved.append(fieldNames.count)
      fieldNames.append(field.name)
      slots.append(nil)
    }
    sqlCells = sql.places(in: fieldNames)
  }

  /// Finds a column for each field that the record in `row` has and none had before it.
  /// - Returns: whether a column has come that the records before it have no cell for.
  /// - Throws: `guardRefused` where the table has no column and gets none.
  private func findColumns(of record: Int, _ batch: inout Batch) throws(UpsurgeError) -> Bool {
    guard let newFields else { return false }
    let met = unresolved.filter { row[$0].kind != .absent }
    if met.isEmpty { return false }
    let text = FieldConverter.Text(batch)
    let place = batch.position(of: record, file: file)
    var added: [ColumnTarget] = []
    for cell in met {
      let affinity = converter.affinity(ofFirst: row[cell], text)
      switch try newFields.column(of: fieldNames[cell], beginningWith: affinity, among: columns, at: place) {
      case .none: break
      case .known(let slot): slots[cell] = slot
      case .new(let column):
        slots[cell] = columns.count
        columns.append(column)
        converter.add(column)
        added.append(column)
      }
      unresolved.removeAll { $0 == cell }
    }
    if added.isEmpty { return false }
    if batch.recordCount > 0 {
      unannounced += added
      return true
    }
    batch.newColumns += added
    rowWidth = columns.count
    return false
  }

  // MARK: - Waiting

  /// Lets the records of a batch from one on wait for the next batch, or for a larger spill.
  private func hold(
    _ record: Int, of count: Int, _ width: Int, _ spillByteCount: Int, missing: Int, _ batch: inout Batch
  ) {
    pending.take(batch, records: record..<count, width: width, spillByteCount: spillByteCount)
    batch.rejects.removeAll { ($0.position.record ?? 0) > batch.records[record].number }
    batch.parsedByteCount = Int(batch.records[record].arenaOffset)
    batch.isClosed = true
    if missing == 0 || batch.recordCount > 0 { return }
    let needed = pending.spillByteCount + missing
    batch.growth.wantedSpillByteCount = max(needed, batch.spillCapacity + 1)
    batch.growth.wantedRecordByteCount = Int(batch.records[record].byteCount) + missing
  }
}
