import UpsurgeRecords

@testable import UpsurgePostgres

// Batches that one transaction holds, however many savepoints that takes.

extension BatchWriter {
  mutating func store(_ batch: borrowing Batch) throws(PostgresFailure) -> BatchOutcomes {
    var savepoints = Savepoints.unbounded
    return try store(batch, within: &savepoints)
  }
}

extension PathWriter {
  mutating func store(_ batch: borrowing Batch) throws(PostgresFailure) -> BatchOutcomes {
    var savepoints = Savepoints.unbounded
    return try store(batch, within: &savepoints)
  }
}

extension NewTableWriter {
  mutating func store(_ batch: borrowing Batch) throws(PostgresFailure) -> BatchOutcomes {
    var savepoints = Savepoints.unbounded
    return try store(batch, within: &savepoints)
  }
}
