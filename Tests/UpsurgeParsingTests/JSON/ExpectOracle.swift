import Oracles
import Testing
import UpsurgeParsing

/// Compares the fast reader with the slow one, and each driver's result with the first one's.
func expectOracle(_ bytes: [UInt8], _ dialect: JSONDialect, _ drivers: [JSONBatchDriver], _ name: String) {
  if let difference = oracleDifference(bytes, dialect, drivers) { Issue.record("\(name): \(difference)") }
}
