import UpsurgeSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension LoadJob {
  /// - Throws: `usage` where the request contradicts itself.
  func validate() throws(UpsurgeError) {
    if table.isEmpty { throw UpsurgeError(.usage, "the table has no name") }
    try OwnTable.refuse(table)
    if database == ":memory:" {
      throw UpsurgeError(
        .usage, "a database in memory is gone when the command ends", hint: "give the path of a file")
    }
    if options.table.stateSchema != nil, StoreRegistry.provider(of: database) == nil {
      throw UpsurgeError(
        .usage, "\(.stateSchema) is for a server: a file of SQLite has no schemas",
        hint: "leave out \(.stateSchema)")
    }
    if options.transaction.connections > 1, StoreRegistry.provider(of: database) == nil {
      throw UpsurgeError(
        .usage, "\(.connections) is for a server: a file of SQLite has one writer at a time",
        hint: "leave out \(.connections)")
    }
    try options.validate()
  }

  /// Checks that no output is one of the sources as they were given; those that are not there are the run's to complain of.
  package func checkOutputs() throws(UpsurgeError) {
    // Before any summary shows the name, which may hold a password.
    if StoreRegistry.provider(of: database) == nil { try Connection.checkURL(database) }
    try checkOutputs(sources: (try? SourceList.expand(sources)) ?? [])
  }

  /// Refuses to write a file that the run reads or loads into.
  /// - Throws: `usage`.
  func checkOutputs(sources: [Source]) throws(UpsurgeError) {
    let outputs: [(option: Wording, path: String?)] = [
      ("\(.rejects)", options.rejects.path), ("\(.summary)", options.output.summaryPath),
      (options.output.changesOption, options.output.changesOutput),
      ("\(.emitSQL)", options.output.emitPath),
    ]
    try checkStandardOutput(outputs)
    var taken: [(what: Wording, file: FileNode)] = []
    for source in sources {
      let file = source.isStandardInput ? FileNode(descriptor: STDIN_FILENO) : source.filePath.flatMap { FileNode(ArchivePath($0)?.archive ?? $0) }
      if let file { taken.append(("the input \(source.shown)", file)) }
    }
    if let path = options.table.initPath, let file = FileNode(path) {
      taken.append(("the script \(path) of \(.initScript)", file))
    }
    for suffix in ["", "-wal", "-shm", "-journal", ImageFile.suffix] {
      if let file = FileNode(database + suffix) { taken.append(("the database \(database)", file)) }
    }
    for (option, path) in outputs {
      guard let path else { continue }
      guard let file = path == "-" ? FileNode(descriptor: STDOUT_FILENO) : FileNode(path) else { continue }
      if let what = taken.first(where: { $0.file == file })?.what {
        throw UpsurgeError(
          .usage, "\(saying: option) \(path) would overwrite \(saying: what)", hint: "give another path to \(saying: option)")
      }
      taken.append(("the file of \(saying: option)", file))
    }
  }

  /// Standard output holds one kind of data, and never rejects: what a rollback takes back must be cut off.
  private func checkStandardOutput(_ outputs: [(option: Wording, path: String?)]) throws(UpsurgeError) {
    if options.rejects.path == "-" {
      throw UpsurgeError(
        .usage, "\(.rejects) takes a file, or table",
        hint: "give the path of a file, such as \(.rejects, "bad.ndjson")")
    }
    let isSummaryPrinted = options.output.summaryPath.map(OutputDescriptor.isStandardOutput) ?? false
    if options.output.isExplained && isSummaryPrinted {
      throw UpsurgeError(
        .usage, "\(.explain) and \(.summary) would both write to standard output", hint: "give \(.summary) a file")
    }
    let takers = outputs.filter { $0.path.map(OutputDescriptor.isStandardOutput) ?? false }.map(\.option)
    if takers.count > 1 {
      throw UpsurgeError(
        .usage, "\(saying: Wording(takers, separator: " and ")) would both write to standard output",
        hint: "give \(takers[1] == ("\(.dryRun)=diff" as Wording) ? takers[0] : takers[1]) a file")
    }
  }
}
