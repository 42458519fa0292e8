import UpsurgeRecords

extension TableWriter {
  /// Keeps a record for which the table has no place yet.
  func quarantine(_ batch: borrowing Batch, _ record: Int) throws(UpsurgeError) {
    preconditionFailure("plans that tolerate unknown columns need a quarantine")
  }
}
