/// What became of a field's text on its way to a typed column.
package enum ConversionNote: UInt8, Sendable {
  /// Stored as it is, or as a number that says the same.
  case none
  /// SQLite would store a number whose spelling differs in what it says: `007`, `+5`, too many digits.
  case spellingChanges
  /// The number is the same, and is written otherwise: `3.10`, `1e+05`.
  case writtenOtherwise
  /// The column is one of numbers and the text is not a number; it stays text.
  case textInNumberColumn

  @inline(__always) var isSet: Bool {
    if case .none = self { false } else { true }
  }
}
