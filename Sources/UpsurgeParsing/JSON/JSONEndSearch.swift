import CScan
import UpsurgeRecords

/// Looks for the end of a value of a document that did not fit the arena. The arena grows in steps; so the value is read
/// when it is whole, and each byte is looked at once until then.
struct JSONEndSearch {
  /// Of the value's first byte.
  let sourceOffset: UInt64
  private var byteCount = 0
  private var machine = upsurge_json_machine()

  init(sourceOffset: UInt64, dialect: JSONDialect) {
    self.sourceOffset = sourceOffset
    upsurge_json_machine_start(&machine, Int32(truncatingIfNeeded: dialect.maximumDepth))
    machine.allows_any_bytes = true
  }

  /// Looks at what has come since.
  /// - Returns: whether the value is whole, or has a fault.
  mutating func goOn(_ start: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>) -> Bool {
    var at: UnsafePointer<UInt8>? = start + byteCount
    let code = Int(upsurge_json_machine_run(&machine, &at, end, true))
    byteCount = end - start
    return code != UPSURGE_JSON_OK
  }
}

extension JSONParser {
  /// Whether the value at `start` was found to be cut before, and still is.
  mutating func isStillCut(
    _ start: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>, _ batch: borrowing Batch, isFinal: Bool
  ) -> Bool {
    guard !isFinal, var search = endSearch, search.sourceOffset == sourceOffset(of: start, batch) else {
      endSearch = nil
      return false
    }
    let isWhole = search.goOn(start, end: end)
    endSearch = isWhole ? nil : search
    return !isWhole
  }

  /// Notes that the value at `start` is cut, where it may become much larger.
  mutating func noteCut(
    _ start: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>, _ batch: borrowing Batch
  ) {
    guard batch.parsedByteCount == 0 else { return }
    endSearch = JSONEndSearch(sourceOffset: sourceOffset(of: start, batch), dialect: dialect)
  }

  private func sourceOffset(of place: UnsafePointer<UInt8>, _ batch: borrowing Batch) -> UInt64 {
    batch.origin.sourceOffset + UInt64(place - UnsafePointer(batch.arena))
  }
}
