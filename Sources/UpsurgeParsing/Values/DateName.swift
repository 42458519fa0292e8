/// English names of months and days, whole or their first three letters, in any case.
enum DateName {
  static let months: [StaticString] = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november",
    "december",
  ]
  static let weekdays: [StaticString] = [
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
  ]

  /// The number of the name at `at`, from 0, and goes past it; nil where none stands there.
  static func find(
    _ names: [StaticString], _ text: UnsafePointer<UInt8>, _ count: Int, _ at: inout Int
  ) -> Int? {
    for (index, name) in names.enumerated() {
      let shared = sharedCount(name, text + at, count - at)
      if shared < 3 { continue }
      at += shared == name.utf8CodeUnitCount ? shared : 3
      return index
    }
    return nil
  }

  private static func sharedCount(_ name: StaticString, _ text: UnsafePointer<UInt8>, _ count: Int) -> Int {
    var shared = 0
    while shared < min(count, name.utf8CodeUnitCount) && text[shared] | 0x20 == name.utf8Start[shared] {
      shared += 1
    }
    return shared
  }

  /// Names that mean one offset everywhere; others, such as CST, mean several.
  static func isUTC(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let text = name.baseAddress else { return false }
    let known: [StaticString] = ["utc", "gmt", "z"]
    return known.contains {
      $0.utf8CodeUnitCount == name.count && sharedCount($0, text, name.count) == name.count
    }
  }
}
