/// A thing that a run can be told, under the name that the command gives it: `key` is its option `--key COLS`, the key
/// `key: COLS` of a job file, and `on:` of a call.
///
/// What the engine says names terms, never options: who shows it knows whom it is for (see `Wording`). All else that is
/// said of a term, such as its help, is in the catalogue of the command.
package enum Term: String, Sendable, CaseIterable {
  // Where records come from, and how they are read.
  case format, compression, encoding, trailer, dialect, delimiter, quote, quotes, escape, comment, null,
    ragged, names, widths, sheet
  case headerLines = "header-lines"
  case noHeader = "no-header"
  case skipLines = "skip-lines"
  case quotedEmpty = "quoted-empty"
  case flatten
  case jsonPath = "json-path"
  case jsonMap = "json-map"
  case jsonNaN = "json-nan"
  case duplicateKeys = "duplicate-keys"
  case maxRatio = "max-ratio"
  case stopAfter = "stop-after"

  // What becomes of their fields.
  case columns, rename, type, blob, infer, `let`, `where`
  case date, decimal, thousands, bool, trim, add
  case blobFolder = "blob-folder"
  case inputOrder = "input-order"

  // The table, and which row a record is about.
  case key, mode, merge, set, create, alter, contract, index, indexes, fts, triggers, strict
  case `default`
  case keyWhere = "key-where"
  case keyIndex = "key-index"
  case createKey = "create-key"
  case anyKey = "any-key"
  case nullKeys = "null-keys"
  case updateIf = "update-if"
  case deleteWhen = "delete-when"
  case notNull = "not-null"
  case foreignKeys = "foreign-keys"
  case initScript = "init"
  case stateSchema = "state-schema"

  // Transactions.
  case atomic, durability, memory, resume, direct, connections
  case commitEvery = "commit-every"
  case walLimit = "wal-limit"
  case busyTimeout = "busy-timeout"
  case rowsPerStatement = "rows-per-statement"
  case withoutWalk = "without-walk"

  // What cannot be stored, and what is said.
  case rejects, summary, explain, changes, quiet, verbose, progress, log
  case onError = "on-error"
  case maxRejects = "max-rejects"
  case explainTime = "explain-time"
  case dryRun = "dry-run"
  case emitSQL = "emit-sql"
  case maxStatement = "max-statement"
  case trustRules = "trust-rules"

  // Mirrors.
  case kind, sweep, scope, forget, history, verify, source, metrics, deadline, retries
  case acceptChange = "accept-change"
  case acceptDelivery = "accept-delivery"
  case columnsGone = "columns-gone"
  case rowState = "row-state"
  case ownedBy = "owned-by"
  case localEdits = "local-edits"
  case retryAfter = "retry-after"
  case keepRuns = "keep-runs"
  case keepFiles = "keep-files"
  case keepRejects = "keep-rejects"
  case keepQuarantine = "keep-quarantine"
  case folderOrder = "folder-order"
  case folderDone = "folder-done"

  // Guards.
  case suspicious
  case maxDelete = "max-delete"
  case minRows = "min-rows"
  case minRatio = "min-ratio"
  case allowEmpty = "allow-empty"
  case expectCount = "expect-count"
  case lineEnd = "line-end"

  // What commands are asked for beside a run.
  case table, check, schema, systemd, cron, at, yes, json, salt, file, rows, rounds, compare, scratch, html
  case except
  case checkJob = "check-job"
  case maxAge = "max-age"
}
