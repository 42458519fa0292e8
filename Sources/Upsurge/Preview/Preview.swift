/// What a run shows besides its ledger: the changes as NDJSON, the statements as SQL.
struct Preview {
  /// nil where nothing is shown.
  let observer: (any RecordObserver)?
  /// The files that are written, by option.
  let files: [String: OutputFile]

  /// - Parameters:
  ///   - lengths: of the files that an earlier part of the run has written, by option; the others are made anew.
  ///   - note: is told of files that are not as they were.
  /// - Throws: `cannotCreate` when a file cannot be made; `databaseBusy` for one that another process writes.
  init(
    _ options: LoadOptions, connection: Connection, setup: [String], sourceNames: [String],
    goingOnAt lengths: [String: UInt64] = [:], note: (RunNote) -> Void
  ) throws(UpsurgeError) {
    var observers: [any RecordObserver] = []
    var files: [String: OutputFile] = [:]
    if let path = options.output.changesOutput {
      let option = options.output.changesOption
      let file = try Self.file(path, option, lengths, note)
      files[option.text] = file
      observers.append(ChangeLog(ChangeFile(file, option: option.text)))
    }
    if let path = options.output.emitPath {
      let file = try Self.file(path, "\(.emitSQL)", lengths, note)
      files[Wording.option(.emitSQL)] = file
      observers.append(
        try StatementEmitter(
          connection: connection, setup: setup.map(Self.repeatable),
          byteLimit: options.output.maxStatement.byteCount, sourceNames: sourceNames,
          sink: { (bytes) throws(UpsurgeError) in try file.append(bytes) },
          sync: { () throws(UpsurgeError) in try file.sync() },
          commit: { () throws(UpsurgeError) in try file.keep() }, rollBack: { file.discard() },
          mark: {
            let end = file.end
            return { () throws(UpsurgeError) in try file.takeBack(to: end) }
          }))
    }
    observer = RecordObservers.joining(observers)
    self.files = files
  }

  /// Makes a file of the run, or goes on with it.
  static func file(
    _ path: String, _ option: Wording, _ lengths: [String: UInt64], _ note: (RunNote) -> Void
  ) throws(UpsurgeError) -> OutputFile {
    let file = try OutputFile(path: path, option: option, goesOn: lengths[option.text] != nil)
    if let length = lengths[option.text] { try file.goOn(at: length, note: note) }
    return file
  }

  /// The file of statements may be fed twice.
  private static func repeatable(_ statement: String) -> String {
    for verb in ["CREATE TABLE ", "CREATE UNIQUE INDEX ", "CREATE INDEX "] {
      if statement.hasPrefix(verb), !statement.hasPrefix(verb + "IF NOT EXISTS ") {
        return verb + "IF NOT EXISTS " + statement.dropFirst(verb.count)
      }
    }
    return statement
  }
}

extension LoadOptions.Output {
  /// Where changes are written: `-` is standard output; nil for nowhere.
  package var changesOutput: String? { changesPath ?? (dryRun == .diff ? "-" : nil) }

  /// The option that asks for changes.
  package var changesOption: Wording { changesPath == nil ? "\(.dryRun)=diff" : "\(.changes)" }

  /// Whether nothing of the run may stay in the database.
  var isTrial: Bool { isExplained || dryRun != nil }
}
