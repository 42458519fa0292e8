/// Records beside which rows are walked through, and where the next row's record is expected.
///
///     records    . . . = = . | . . . . .
///                  candidates ^expected
///
/// A record far after the expected one is not looked for any more: it is new, or its row lies elsewhere.
struct RecordWindow {
  /// What is known of a record.
  enum Mark: UInt8 {
    case open
    /// The row of the record says the same.
    case equal
    /// The row of the record says something else.
    case changed
  }

  /// A row is looked for among so many records from the expected one on, and so many before it.
  private static let ahead = 32
  private static let behind = 16

  let start: Int
  let end: Int
  /// The record that the next row should be about, which is open; `end` when none is left. Setting it to a later one
  /// leaves out those between.
  var expected: Int
  /// One for each record.
  private let marks: UnsafeMutablePointer<Mark>

  /// - Parameter marks: memory for one a record.
  init(_ records: Range<Int>, marks: UnsafeMutablePointer<Mark>) {
    (start, end, expected) = (records.lowerBound, records.upperBound, records.lowerBound)
    self.marks = marks
    marks.initialize(repeating: .open, count: records.count)
  }

  var isDone: Bool { expected >= end }

  /// Records from the expected one on.
  var remaining: Int { end - expected }

  var candidates: Range<Int> {
    max(start, expected - RecordWindow.behind)..<min(end, expected + RecordWindow.ahead)
  }

  func isOpen(_ record: Int) -> Bool { marks[record - start] == .open }

  func isEqual(_ record: Int) -> Bool { marks[record - start] == .equal }

  mutating func mark(_ record: Int, isEqual: Bool) {
    marks[record - start] = isEqual ? .equal : .changed
    expected = max(expected, record + 1)
    while expected < end, !isOpen(expected) { expected += 1 }
  }
}
