import UpsurgeRecords

extension ColumnTarget {
  /// What keeps a value whose spelling the column would change.
  var spellingHint: String {
    guard isKeyOfNumbers else {
      return "--type \(name):TEXT keeps it as text; --infer full reads all values first"
    }
    let type: StaticString = affinity == .real ? "REAL" : affinity == .integer ? "INTEGER" : "NUMERIC"
    return "--type \(name):\(type) takes it for the number; a key column of TEXT would keep it as it is"
  }
}
