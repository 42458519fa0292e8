import UpsurgeRecords

/// What was seen of a column's numbers that are written in a form of their own: with a decimal comma, or with marks between thousands.
package struct NumberMarks: Sendable, Equatable {
  /// A value of the column that is no number, or one whose spelling would change.
  package struct Misfit: Sendable, Equatable {
    package var text: String
    package var line: UInt64
  }

  /// Values with such a mark.
  package private(set) var markedCount: UInt64 = 0
  /// Values with a mark before a fraction.
  package private(set) var fractionCount: UInt64 = 0
  /// Values with one group of three digits and no fraction, whose mark may as well stand before a fraction.
  package private(set) var doubtfulCount: UInt64 = 0
  /// All values that are not NULL.
  package private(set) var valueCount: UInt64 = 0
  package private(set) var firstMisfit: Misfit?

  /// Whether the mark of each value may part thousands, or stand before a fraction.
  package var isDoubtful: Bool { doubtfulCount > 0 && doubtfulCount == valueCount }

  /// Takes a number into account that has the form.
  mutating func take(_ number: UnsafeBufferPointer<UInt8>, as form: NumberForm) {
    let (groupCount, hasFraction) = form.marks(of: number)
    if groupCount > 0 || hasFraction && form.mark != UInt8(ascii: ".") { markedCount += 1 }
    if hasFraction { fractionCount += 1 }
    if groupCount == 1 && !hasFraction { doubtfulCount += 1 }
  }

  mutating func takeValue() { valueCount += 1 }

  mutating func takeMisfit(_ text: UnsafeBufferPointer<UInt8>, line: UInt64) {
    if firstMisfit != nil { return }
    firstMisfit = Misfit(text: String(decoding: text.prefix(40), as: UTF8.self), line: line)
  }

  mutating func merge(_ other: NumberMarks) {
    markedCount += other.markedCount
    fractionCount += other.fractionCount
    doubtfulCount += other.doubtfulCount
    valueCount += other.valueCount
    firstMisfit = firstMisfit ?? other.firstMisfit
  }
}
