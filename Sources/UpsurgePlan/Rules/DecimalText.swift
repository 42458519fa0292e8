import CScan

/// Texts that a column of numbers stores as reals: of records that were made without knowing the column.
///
/// As with records that are parsed for a column, the decimal becomes the nearest double, which SQLite may miss by a bit.
package enum DecimalText {
  /// The nearest double of a decimal that a program holds; nil as for bytes.
  package static func real(_ text: String) -> Double? {
    let bytes = Array(text.utf8)
    return bytes.withUnsafeBufferPointer { real($0) }
  }

  /// The nearest double of a decimal; nil for integers of 64 bits and for what is no number, which SQLite reads exactly.
  package static func real(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
    guard let start = text.baseAddress else { return nil }
    var bits: UInt64 = 0
    switch Int(upsurge_number_scan(start, text.count, &bits)) {
    case UPSURGE_NUMBER_REAL: return Double(bitPattern: bits)
    case UPSURGE_NUMBER_RESPELLED where upsurge_number_nearest(start, text.count, &bits):
      return Double(bitPattern: bits)
    default: return nil
    }
  }
}
