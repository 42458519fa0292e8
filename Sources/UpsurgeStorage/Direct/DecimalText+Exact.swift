import CScan
import UpsurgePlan

extension DecimalText {
  /// The double of a decimal that a double holds, so that nothing of the text is lost; nil for all other texts.
  @inline(__always)
  static func exactReal(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
    guard let start = text.baseAddress else { return nil }
    var bits: UInt64 = 0
    guard Int(upsurge_number_scan(start, text.count, &bits)) == UPSURGE_NUMBER_REAL else { return nil }
    return Double(bitPattern: bits)
  }
}
