import Upsurge
import UpsurgeRecords
import UpsurgeState

/// Parts of a delivery that the last one had, too.
extension PostgresTransfer {
  var chunks: DeliveryChunks? { snapshot?.chunks?.chunks }

  var skippedRecordCount: UInt64 { chunks?.skippedRecordCount ?? 0 }

  /// Stores the chunks that the reader has found so far, in the transaction of their records.
  func storeChunks() throws(UpsurgeError) {
    guard let memory = snapshot?.chunks, memory.chunks.hasMade else { return }
    try transactions.perform { (connection) throws(PostgresFailure) in try memory.store(connection) }
  }
}
