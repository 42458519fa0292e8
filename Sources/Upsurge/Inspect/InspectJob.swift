/// A look at a source without storing anything: what `upsurge inspect` does.
public struct InspectJob: Sendable {
  public var source: Source
  /// The options of a load; those that concern the database are not used, except the key.
  public var options: LoadOptions

  public init(source: Source, options: LoadOptions = LoadOptions()) {
    self.source = source
    self.options = options
  }

  /// A look at a source that is a text, as `Source.init(_:)` reads it.
  @_disfavoredOverload
  public init(source: String, options: LoadOptions = LoadOptions()) {
    self.init(source: Source(source), options: options)
  }

  /// What a source looks like.
  public struct Description: Sendable {
    /// A column as it would be loaded.
    public struct Column: Sendable {
      public var name: String
      /// Declared type in the table that `load` would make.
      public var type: String
      /// NULLs among the records looked at.
      public var nullCount: UInt64
      /// A few of its values.
      public var examples: [String]
      /// Whether its values are numbers that an option would read, and texts without it.
      package var isReadAsNumbers = false
    }

    /// Compression, format, dialect and encoding in words.
    public var summary: String
    /// What was changed or guessed on the way.
    public var remarks: [String]
    public var columns: [Column]
    /// The CREATE TABLE that `load` would run; nil when there is nothing to make a table from.
    public var createTable: String?
    /// Whether types were found from part of the source only.
    public var isFromSample: Bool
    /// Options of `load` that read values otherwise than they stand, as the command takes them; only where there is no doubt.
    public var proposedOptions: [String] = []
    /// These, one by one.
    package var proposals: [(term: Term, value: String)] = []
    /// The remarks, for who has other words for options.
    package var saidRemarks: [Wording] = []
  }

  /// Looks at the first MiB (all of it with `--infer full`).
  /// - Parameters:
  ///   - table: the name in the CREATE TABLE.
  ///   - control: shows the progress to any thread.
  /// - Throws: `UpsurgeError` when the source cannot be read or its document is broken.
  public func describe(
    table: String = "records", control: RunControl = RunControl()
  ) throws(UpsurgeError) -> Description {
    try options.validate()
    let (prepared, notes) = try open(control)
    let isFromSample = options.table.inference != .full && !prepared.opened.isSampleWhole
    var surveying = options
    surveying.tuning.surveysValues = true
    let columns = try prepared.inferColumnsOfNewTable(options: surveying)
    let proposals = ValueProposals(
      prepared.isJSON || options.input.values.readsNumbers ? columns.map(\.withoutNumbers) : columns)
    let definition =
      columns.isEmpty
      ? nil : try TableDefinition(name: table, inferred: columns, options: options)
    let remarks = notes + prepared.remarks + proposals.remarks
    return Description(
      summary: prepared.summary, remarks: remarks.map(\.text),
      columns: columns.enumerated().map { index, column in
        Description.Column(
          name: column.name, type: definition?.columns[index].declaredType ?? "",
          nullCount: column.nullCount, examples: column.examples,
          isReadAsNumbers: proposals.numberColumns.contains(column.name))
      },
      createTable: try definition?.sql(), isFromSample: isFromSample,
      proposedOptions: proposals.options.map { Wording.option($0.term, $0.value.quotedForShell) },
      proposals: proposals.options, saidRemarks: remarks)
  }

  /// What reading all of a source found.
  public struct Check: Sendable {
    /// Records that a load would take or reject.
    public var recordCount: UInt64
    public var rejectCount: UInt64
    public var warnings: WarningLog
    /// What a person should know besides.
    public var remarks: [String]
  }

  /// Reads everything as a load would that makes a new table, and stores nothing.
  /// - Parameters:
  ///   - control: shows the progress to any thread.
  ///   - onReject: is told each record that cannot be parsed, with its position.
  /// - Throws: `UpsurgeError` when the source cannot be read on.
  public func check(
    control: RunControl = RunControl(), onReject: (Reject) -> Void
  ) throws(UpsurgeError) -> Check {
    try options.validate()
    let (prepared, notes) = try open(control)
    if case .json(.json) = prepared.shape, options.input.jsonPath.isEmpty, options.input.jsonMap == nil {
      var check = try validate(prepared)
      check.remarks += notes.map(\.text)
      return check
    }
    var check = Check(recordCount: 0, rejectCount: 0, warnings: WarningLog(), remarks: notes.map(\.text))
    let pool = BatchPool(
      count: 2, sizes: options.tuning.batchSizes, allowance: options.transaction.largeBatchByteLimit)
    var filler = BatchFiller(
      pool: pool, recordByteLimit: options.transaction.recordByteLimit, sourceIndex: 0)
    let take: (consuming sending Batch) -> Bool = { batch in
      check.recordCount += UInt64(batch.recordCount + batch.rejects.count)
      check.rejectCount += UInt64(batch.rejects.count)
      batch.rejects.forEach(onReject)
      check.warnings.merge(batch.warnings)
      control.note(records: check.recordCount, rejects: check.rejectCount, stage: .inspecting)
      pool.giveBack(batch)
      return true
    }
    let read: (UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int = { buffer throws(UpsurgeError) in
      try prepared.opened.read(into: buffer)
    }
    switch try prepared.checkingParser(options: options) {
    case .csv(var parser):
      try filler.run(&parser, startOffset: prepared.opened.startOffset, isWhole: true, read: read, emit: take)
    case .json(var parser):
      try filler.run(&parser, startOffset: prepared.opened.startOffset, isWhole: true, read: read, emit: take)
    case .shapedCSV(var parser):
      try filler.run(&parser, startOffset: prepared.opened.startOffset, isWhole: true, read: read, emit: take)
    case .shapedJSON(var parser):
      try filler.run(&parser, startOffset: prepared.opened.startOffset, isWhole: true, read: read, emit: take)
    }
    check.warnings.add(prepared.opened.sheetNotes, of: prepared.opened.name)
    return check
  }

  /// Opens the source, whose bytes `control` shows from then on.
  /// - Returns: also what is to be said where that is one file of several, or a sheet of a workbook that has others.
  private func open(_ control: RunControl) throws(UpsurgeError) -> (PreparedSource, remarks: [Wording]) {
    let counter = ByteCounter()
    control.note(stage: .inspecting)
    control.follow(counter)
    let files = try SourceList.expand(
      [source], archives: options.environment.archives ?? OpenArchives(options))
    let first = files.first ?? source
    let job = LoadJob(database: "", table: "", sources: [first], options: options)
    try job.checkSheet(first)
    // Of an archive whose files have one kind of records, the first of them.
    let archive = options.input.compression == .none ? nil : try job.unpack(first, cancellation: nil)
    let looked = archive?.members.first ?? first
    if let total = looked.readByteCount { control.note(totalBytes: total) }
    let prepared = try PreparedSource.prepare(looked, options: options, counter: counter)
    var remarks = Self.remarks(on: first, of: files.count, in: source)
    remarks += Self.remarks(on: looked, of: archive?.members.count ?? 1, in: first)
    if archive?.hasOtherSheets == true, let remark = archive?.workbookRemark { remarks.append(remark) }
    return (prepared, remarks)
  }

  /// What is said of a file that is not the only one; nothing of one that is.
  private static func remarks(on file: Source, of count: Int, in source: Source) -> [Wording] {
    if count < 2 { return [] }
    let all = Words.count(UInt64(count), "file")
    return [
      Wording("\(file.shown) is the first of \(all) of \(source.shown); name another one to look at it")
    ]
  }

  /// Strict RFC 8259 over the whole document, whatever value it holds.
  private func validate(_ prepared: PreparedSource) throws(UpsurgeError) -> Check {
    var validator = JSONValidator(file: prepared.opened.name)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
    defer { buffer.deallocate() }
    while true {
      let count = try prepared.opened.read(into: buffer)
      if count == 0 { break }
      try validator.feed(
        UnsafeBufferPointer(start: buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), count: count))
    }
    try validator.finish()
    var check = Check(recordCount: 0, rejectCount: 0, warnings: WarningLog(), remarks: [])
    check.remarks.append("the document is valid JSON (RFC 8259)")
    return check
  }
}
