import UpsurgeRecords

extension ColumnTarget {
  /// What keeps a value whose spelling the column would change.
  var spellingHint: Wording {
    guard spellingPolicy == .key else {
      return "\(.type, "\(name):TEXT".quotedForShell) keeps it as text; \(.infer, "full") reads all values first"
    }
    let type: StaticString = affinity == .real ? "REAL" : affinity == .integer ? "INTEGER" : "NUMERIC"
    return
      "\(.onError, "reject") \(.rejects, "table") keeps such records aside; if every spelling means one key, \(.type, "\(name):\(type)".quotedForShell) says so"
  }
}
