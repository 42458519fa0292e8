/// What a run shows besides its ledger: the changes as NDJSON, the statements as SQL.
enum Preview {
  /// The observer that the options ask for; nil for none.
  /// - Throws: `cannotCreate` when a file cannot be made.
  static func observer(
    _ options: LoadOptions, connection: Connection, setup: [String], sourceNames: [String]
  ) throws(UpsurgeError) -> (any RecordObserver)? {
    var observers: [any RecordObserver] = []
    if let path = options.changesOutput {
      let option = options.changesPath == nil ? "--dry-run=diff" : "--changes"
      observers.append(ChangeLog(file: try OutputFile(path: path, option: option)))
    }
    if let path = options.emitPath {
      let file = try OutputFile(path: path, option: "--emit-sql")
      observers.append(
        try StatementEmitter(
          connection: connection, setup: setup.map(repeatable),
          byteLimit: options.maxStatement.byteCount, sourceNames: sourceNames,
          sink: { (bytes) throws(UpsurgeError) in try file.append(bytes) },
          commit: { () throws(UpsurgeError) in try file.keep() }, rollBack: { file.discard() }))
    }
    return RecordObservers.joining(observers)
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

extension LoadOptions {
  /// Where changes are written: `-` is standard output; nil for nowhere.
  var changesOutput: String? { changesPath ?? (dryRun == .diff ? "-" : nil) }

  /// Whether nothing of the run may stay in the database.
  var isTrial: Bool { isExplained || dryRun != nil }
}
