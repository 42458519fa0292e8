extension LoadRun {
  /// Says so where a run that is kept has loaded one of the files into the table before, and its records would be stored
  /// or added a second time. Of runs that are not kept, nobody knows which files they had.
  func warnOfRepeated(_ table: PreparedTable, _ input: LoadInput, on connection: Connection)
    throws(UpsurgeError)
  {
    guard !table.facts.isNew, input.beginning.resumption == nil, !job.options.delivery.isRepeated,
      let repetition = table.repetition(options: job.options)
    else { return }
    var contents = FileContents(input.sources)
    for run in try RunTable.past(connection, table: job.table).reversed() {
      for file in run.files.prefix(run.position.sourceIndex + 1) {
        guard let identity = file.identity,
          try contents.has(identity, at: SourceName.place(of: file.name), elsewhere: true),
          try !connection.hasLostRows(of: run)
        else { continue }
        let what = repetition == .store ? "stored, as rows of their own" : "added"
        let name = Source(file.name).shown.escapedForTerminal
        return note(
          RunNote(
            .warning,
            "\(name) was loaded into table \(job.table.escapedForTerminal) before, by run \(run.id) of \(run.startedAt): its "
              + "records are \(what), a second time"))
      }
    }
  }
}
