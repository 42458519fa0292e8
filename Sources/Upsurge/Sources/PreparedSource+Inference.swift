/// A column as the input suggests it.
package struct InferredColumn: Sendable {
  package var name: String
  package var type: ColumnType
  /// A few values, for people.
  package var examples: [String]
  package var nullCount: UInt64
  /// The first value of a column of reals that would be written otherwise.
  package var respelled: String?
  /// What was seen of numbers in a form of their own; nil where none was looked for.
  package var marks: NumberMarks?
  /// In which form of their own its values are written; nil where they have no such form, or nobody has looked.
  package var finding: ValueSurvey.Finding?
  /// What a new table declares it as, where the source says so and the values stay what they are; nil leaves it to `type`.
  package var declaredType: String?
  /// The type as the database says it that the source is; nil where it is not one, or says none. A store may take it where it knows
  /// that all values fit.
  package var sourceType: SourceType?

  package enum SourceType: Sendable, Equatable {
    /// In words of SQLite, whose values need not be of it: `DECIMAL(10, 2)`.
    case sqlite(String)
    /// In words of a server, whose values are of it: `numeric(10,2)`.
    case server(String)
  }
}

extension InferredColumn {
  /// The column as its format makes it: yes and no are integers of SQLite and booleans of a server, dates are texts of SQLite.
  func formatted(by values: ValueFormats) -> InferredColumn {
    guard let form = ValueReaders.form(of: name, in: values) else { return self }
    var column = self
    column.declaredType = nil
    switch form {
    case .truth: (column.type, column.sourceType) = (.integer, .server("boolean"))
    case .date(let serverType): (column.type, column.sourceType) = (.text, .server(serverType))
    }
    return column
  }
}

extension PreparedSource {
  /// Finds the columns and their types from the sample, or from all of the source, which then starts again.
  /// Where no record can be read and no header names them, there are none.
  /// - Throws: `badInput` when the document cannot be parsed, `usage` for unknown field names and for
  ///   `--infer full` on a pipe.
  func inferColumns(options: LoadOptions) throws(UpsurgeError) -> [InferredColumn] {
    if let declared { return try declaredColumns(declared, options: options) }
    return try inferFromRecords(options: options).found
  }

  /// The columns that a database has declared, and those that SQL makes of them, by what the sample shows.
  private func declaredColumns(
    _ all: [InferredColumn], options: LoadOptions
  ) throws(UpsurgeError) -> [InferredColumn] {
    let declared = try selected(all, options: options).map { $0.formatted(by: options.input.values) }
    let names = options.table.computedColumns.map(\.name)
    if names.isEmpty { return declared }
    let found = try inferFromRecords(options: options).found
    let computed = names.compactMap { name in found.first { SQLName.isSame($0.name, name) } }
    return declared.filter { column in !names.contains { SQLName.isSame($0, column.name) } } + computed
  }

  /// The columns that the sample shows.
  func sampleColumns(options: LoadOptions) throws(UpsurgeError) -> [InferredColumn] {
    try inferFromSample(options: options).found
  }

  /// Finds the columns of a new table, where nothing else says what they are.
  /// - Throws: also `badInput` where no record can be read and no header names the columns.
  package func inferColumnsOfNewTable(options: LoadOptions) throws(UpsurgeError) -> [InferredColumn] {
    let added = options.table.inferredColumnsThatAreAdded
    if let declared { return try declaredColumns(declared, options: options) + added }
    let pass = try inferFromRecords(options: options)
    if pass.found.isEmpty, let reject = pass.firstReject { throw noRecordCanBeRead(first: reject) }
    let own = Set(pass.found.map { SQLName.folded($0.name) })
    return pass.found.isEmpty ? [] : pass.found + added.filter { !own.contains(SQLName.folded($0.name)) }
  }

  private func noRecordCanBeRead(first reject: Reject) -> UpsurgeError {
    var error = reject.asError
    error.said =
      "no record of \(opened.name) can be read, so the columns of a new table are not known; the first: \(saying: error.said)"
    error.remedy = reject.remedy ?? "make the table first; its bad records can then be rejected one by one"
    return error
  }

  /// Looks at the records that the filter lets through or, where it leaves all of them out, at all.
  private func inferFromRecords(options: LoadOptions) throws(UpsurgeError) -> Pass {
    let pass = try inferFromKept(options: options)
    if pass.hasRecords || !pass.hasFiltered { return pass }
    var all = options
    all.input.filter = nil
    return try inferFromKept(options: all)
  }

  private func inferFromKept(options: LoadOptions) throws(UpsurgeError) -> Pass {
    if options.table.inference == .full && !opened.isSampleWhole {
      return try inferAndRewind(
        options: options, isFirstBatchEnough: false, why: "\(.infer, "full") reads the input twice")
    }
    let columns = try inferFromSample(options: options)
    if columns.hasRecords || columns.hasFiltered || opened.isSampleWhole
      || (!opened.isSeekable && !columns.found.isEmpty)
    {
      return columns
    }
    // The first record is larger than the sample.
    return try inferAndRewind(
      options: options, isFirstBatchEnough: true,
      why: "its first record is larger than the MiB that is looked at first")
  }

  private func inferFromSample(options: LoadOptions) throws(UpsurgeError) -> Pass {
    var rest = opened.sample[...]
    return try infer(options: options, isWhole: opened.isSampleWhole) { buffer throws(UpsurgeError) in
      let count = min(buffer.count, rest.count)
      rest.prefix(count).withUnsafeBytes { buffer.copyMemory(from: $0) }
      rest = rest.dropFirst(count)
      return count
    }
  }

  /// Reads the source beyond the sample and starts it again.
  /// - Throws: `usage` when the source is a pipe.
  private func inferAndRewind(
    options: LoadOptions, isFirstBatchEnough: Bool, why: Wording
  ) throws(UpsurgeError) -> Pass {
    guard opened.isSeekable else { throw cannotReadTwice(why: why) }
    let columns = try infer(options: options, isWhole: true, isFirstBatchEnough: isFirstBatchEnough) {
      buffer throws(UpsurgeError) in try opened.read(into: buffer)
    }
    try opened.rewind()
    return columns
  }

  func cannotReadTwice(why: Wording) -> UpsurgeError {
    UpsurgeError(
      .usage, "\(opened.name) cannot be read twice, and that is needed: \(saying: why)",
      hint: "save it to a file first, or make the table before the load")
  }

  /// What a pass over records found.
  private struct Pass {
    var found: [InferredColumn] = []
    var hasRecords = false
    /// Whether a filter has left records out.
    var hasFiltered = false
    /// The first record that could not be parsed.
    var firstReject: Reject?
  }

  private func infer(
    options: LoadOptions, isWhole: Bool, isFirstBatchEnough: Bool = false,
    read: (UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int
  ) throws(UpsurgeError) -> Pass {
    let pool = BatchPool(
      count: 2, sizes: options.tuning.batchSizes, allowance: options.transaction.largeBatchByteLimit)
    var filler = BatchFiller(
      pool: pool, recordByteLimit: options.transaction.recordByteLimit, sourceIndex: 0,
      cancellation: opened.cancellation)
    // Shaped records have their numbers read, and what SQL makes is not written in a form of the input.
    var inference = ColumnInference(
      isJSON: isJSON, countsEmptyTexts: options.input.csv.quotedEmpty == .text,
      numbers: options.shapesRecords ? nil : options.input.values.numberForm(of: ""))
    let readForms = { (columns: [ColumnTarget]) in
      if options.input.values.readsNumbers { inference.read(columns.map { options.input.values.numberForm(of: $0.name) }) }
    }
    var survey = options.tuning.surveysValues ? ValueSurvey() : nil
    var pass = Pass()
    let observe: (consuming sending Batch) -> Bool = { batch in
      inference.observe(batch)
      survey?.observe(batch)
      pass.hasRecords = pass.hasRecords || batch.recordCount > 0
      pass.hasFiltered = pass.hasFiltered || batch.filteredThrough != nil
      pass.firstReject = pass.firstReject ?? batch.rejects.first
      pool.giveBack(batch)
      return !(isFirstBatchEnough && (pass.hasRecords || pass.hasFiltered))
    }
    switch try inferenceParser(options: options) {
    case .csv(var parser):
      readForms(parser.columns)
      try filler.run(&parser, startOffset: 0, isWhole: isWhole, read: read, emit: observe)
      pass.found = inferred(parser.columns, inference, options)
    case .json(var parser):
      try filler.run(&parser, startOffset: 0, isWhole: isWhole, read: read, emit: observe)
      pass.found = inferred(parser.columns, inference, options)
    case .shapedCSV(var parser):
      try filler.run(&parser, startOffset: 0, isWhole: isWhole, read: read, emit: observe)
      pass.found = inferred(parser.columns, inference, options)
    case .shapedJSON(var parser):
      try filler.run(&parser, startOffset: 0, isWhole: isWhole, read: read, emit: observe)
      // Keys come one by one, and computed columns are known before the first.
      let found = inferred(parser.columns, inference, options)
      let isComputed = { (column: InferredColumn) in options.table.isComputed(column.name) }
      let hasNothing = !pass.hasRecords && !pass.hasFiltered && found.allSatisfy(isComputed)
      pass.found = hasNothing ? [] : found.filter { !isComputed($0) } + found.filter(isComputed)
    }
    if let survey {
      for slot in pass.found.indices { pass.found[slot].finding = survey.finding(of: slot) }
    }
    return pass
  }

  package var isJSON: Bool {
    if case .json = shape { return true }
    return false
  }

  /// A parser that leaves every text as it is.
  func inferenceParser(options: LoadOptions) throws(UpsurgeError) -> SourceParser {
    var columns = ColumnRegistry()
    let table = TableFacts(
      name: "", isNew: true, columns: [], addsColumns: false, isForInference: true)
    return try makeParser(columns: &columns, table: table, options: options)
  }

  private func inferred(
    _ columns: [ColumnTarget], _ inference: ColumnInference, _ options: LoadOptions
  ) -> [InferredColumn] {
    columns.enumerated().map { slot, target in
      let seen = slot < inference.columns.count ? inference.columns[slot] : ColumnInference.Column()
      let isKey = options.rules.key.contains { SQLName.isSame($0, target.name) }
      let type = isKey ? inference.keyType(of: slot) : inference.inferredType(of: slot)
      var column = InferredColumn(
        name: target.name, type: options.table.inference == .none ? .text : type, examples: seen.examples,
        nullCount: seen.nullCount, respelled: type == .real ? seen.respelled : nil)
      column.marks = seen.marks
      if options.table.inference == .none || options.table.isComputed(target.name) { return column }
      return column.formatted(by: options.input.values)
    }
  }
}
