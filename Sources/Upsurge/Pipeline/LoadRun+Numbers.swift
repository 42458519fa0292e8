/// What a run says of numbers in a form of their own, by the first part of its input.
extension LoadRun {
  /// Says where options of numbers have read nothing, and where they may have made other numbers than are meant.
  /// - Parameters:
  ///   - beginning: nothing is said where it resumes.
  ///   - columns: those of the run.
  func announceNumbers(of beginning: Beginning, _ columns: ColumnRegistry) {
    if beginning.resumption != nil { return }
    let (source, values) = (beginning.source, job.options.input.values)
    if !values.readsNumbers || source.declared != nil { return }
    let options = job.options.shapesRecords ? job.options.withFieldsAlone : job.options
    // What is wrong with the input is told when it is read.
    guard let fields = try? source.sampleColumns(options: options) else { return }
    let found = fields.compactMap { field -> FoundNumbers? in
      let name =
        job.options.shapesRecords ? FeedRules.column(of: field.name, options: job.options) : field.name
      guard let marks = field.marks, ValueReaders.form(of: name, in: values) == nil,
        let slot = columns.slot(named: name)
      else { return nil }
      return FoundNumbers(column: name, isNumber: columns.targets[slot].isNumber, marks: marks)
    }
    let read = found.filter { $0.isNumber && $0.marks.markedCount > 0 }
    if read.isEmpty {
      if let unread = found.first(where: { $0.marks.markedCount > 0 }) {
        note(unread.note(isJSON: source.isJSON, values))
      }
      return
    }
    // Who has named the column knows what its mark is.
    let doubtful = read.filter { field in
      field.marks.isDoubtful && !values.numberForms.keys.contains { SQLName.isSame($0, field.column) }
    }
    let mark = values.thousands == "." ? "point" : values.thousands == "," ? "comma" : nil
    if let mark, !doubtful.isEmpty, read.contains(where: { $0.marks.fractionCount > 0 }) {
      note(Self.doubt(of: doubtful.map(\.column), mark))
    }
  }

  private static func doubt(of columns: [String], _ mark: String) -> RunNote {
    let shown = columns.prefix(5).map(\.escapedForTerminal).joined(separator: ", ")
    let more = columns.count > 5 ? " and \(Words.count(UInt64(columns.count - 5), "more column"))" : ""
    let options = Wording(
      columns.prefix(5).map { "\(.decimal, "\($0)=\(mark)".quotedForShell)" }, separator: " ")
    var said = RunNote(
      .warning,
      "in column\(columns.count == 1 ? "" : "s") \(shown)\(more) each \(mark) was taken to part thousands, and may be a decimal "
        + "\(mark) as well; \(saying: options) if it is; \(.thousands, "COL=\(mark)") if it is not")
    said.isAlwaysSaid = true
    return said
  }
}

/// A column whose values may be numbers in a form of their own.
private struct FoundNumbers {
  let column: String
  /// Whether the column is one of numbers, so that they were read.
  let isNumber: Bool
  let marks: NumberMarks

  /// Says why its values stay text, where no column's are read.
  func note(isJSON: Bool, _ values: ValueFormats) -> RunNote {
    let term: Wording = values.words.contains { $0.term == .decimal } ? "\(.decimal)" : "\(.thousands)"
    let name = column.escapedForTerminal
    let real: Wording = "\(.type, "\(column):REAL".quotedForShell)"
    guard let misfit = marks.firstMisfit else {
      let what = isJSON ? "strings of JSON stay text" : "\(name) is a column of text"
      return RunNote(
        .warning,
        "\(saying: term) read no column: \(what), and \(saying: real) makes it one of numbers in a new table")
    }
    let isWord = !misfit.text.utf8.contains { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    let null: Wording =
      isWord ? "\(.null, "\(column)=\(misfit.text)".quotedForShell) if that is no value, or " : ""
    return RunNote(
      .warning,
      "\(saying: term) read no column: \(name) is text because of \"\(misfit.text.escapedForTerminal)\" (line \(misfit.line)); "
        + "\(saying: null)\(saying: real) rejects what is no number")
  }
}
