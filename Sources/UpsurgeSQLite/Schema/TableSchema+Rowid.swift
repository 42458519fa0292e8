import UpsurgeRecords

extension TableSchema {
  /// Stands for the rowid among the indexes of columns that are read.
  package static let rowidIndex = -1

  /// A name of the rowid that no column has taken; nil where there is no rowid.
  package var rowidName: String? {
    if isWithoutRowid || kind == .view { return nil }
    return ["rowid", "_rowid_", "oid"].first { columnIndex($0) == nil }
  }

  /// The columns as a query names them, with commas.
  package func terms(_ columns: [Int]) throws(UpsurgeError) -> String {
    var text = ""
    for index in columns {
      let term = index == TableSchema.rowidIndex ? rowidName ?? "NULL" : try SQLName.quote(self.columns[index].name)
      text += (text.isEmpty ? "" : ", ") + term
    }
    return text
  }
}
