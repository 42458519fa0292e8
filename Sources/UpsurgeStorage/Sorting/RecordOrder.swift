/// The order in which the records of a batch are stored.
struct RecordOrder {
  /// The indexes of the records; nil for the order of the input.
  private let indexes: UnsafePointer<UInt32>?

  static var input: RecordOrder { RecordOrder(indexes: nil) }

  private init(indexes: UnsafePointer<UInt32>?) { self.indexes = indexes }

  /// The indexes must stay where they are as long as the order is used.
  init(_ indexes: UnsafeMutablePointer<UInt32>) { self.indexes = UnsafePointer(indexes) }

  /// The record whose turn is at this place.
  @inline(__always)
  subscript(place: Int) -> Int {
    guard let indexes else { return place }
    return Int(indexes[place])
  }
}
