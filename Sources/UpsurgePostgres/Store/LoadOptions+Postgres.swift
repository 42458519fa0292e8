import Upsurge
import UpsurgeRecords

extension LoadOptions {
  /// How long a server is waited for.
  var patience: ServerPatience {
    var patience = ServerPatience()
    patience.busySeconds = Double(transaction.busyTimeout) / 1_000
    patience.connectSeconds = tuning.connectSeconds ?? patience.connectSeconds
    return patience
  }

  /// - Throws: `usage` for an option that cannot apply to PostgreSQL, or does not yet, by its name.
  func checkForPostgres() throws(UpsurgeError) {
    let notHere: [(isGiven: Bool, option: Wording, reason: String)] = [
      (
        table.initPath != nil || table.initSQL != nil, "\(.initScript)",
        "it is SQL for a connection of SQLite"
      ),
      (
        !table.computedColumns.isEmpty, "\(.let)",
        "the SQL of fields is SQLite's, and is not evaluated for a server yet"
      ),
      (
        input.filter != nil, "\(.where)",
        "the SQL of fields is SQLite's, and is not evaluated for a server yet"
      ),
      (table.isStrict, "\(.strict)", "every table of PostgreSQL is strict"),
      (table.triggers != .run, "\(.triggers)", "only SQLite's can be held back by a load"),
      (table.foreignKeys != .auto, "\(.foreignKeys)", "the server checks its foreign keys itself"),
      (table.contract == .quarantine, "\(.contract, "quarantine")", "no record is kept there yet"),
      (output.emitPath != nil, "\(.emitSQL)", "a batch goes up by COPY, which is no SQL of its own"),
      (transaction.direct == .always, "\(.direct, "always")", "only a file of SQLite can be packed"),
      (rules.nullKeys == .insert, "\(.nullKeys, "insert")", "a NULL in a key is a new row there each time"),
    ]
    if delivery.rules.rowState != nil, !transaction.isAtomic {
      throw UpsurgeError(
        .usage, "row-state in PostgreSQL is one transaction with its delivery, and atomic: bounded makes many of it",
        hint: "atomic: table; or leave out row-state")
    }
    if let snapshot = delivery.rules.snapshot, snapshot.sweep != .none, !transaction.isAtomic {
      throw UpsurgeError(
        .usage, "a sweep in PostgreSQL is one transaction with its delivery, and atomic: bounded makes many of it",
        hint: "atomic: table; or sweep: none")
    }
    for entry in notHere where entry.isGiven {
      throw UpsurgeError(
        .usage, "\(saying: entry.option) does not apply to PostgreSQL: \(entry.reason)",
        hint: "leave out \(saying: entry.option)")
    }
  }
}
