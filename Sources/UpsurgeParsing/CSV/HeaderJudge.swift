import UpsurgeRecords

/// Decides whether a table's first record holds names or data, column by column: text above numbers speaks for
/// names, a number above numbers against them, and a name that occurs again below as well. Years and other
/// sequences above numbers are the names of a pivot table.
struct HeaderJudge {
  /// Records looked at below the first one.
  private static let bodyLimit = 200
  /// How people write that there is no value: says nothing about names.
  private static let missingSpellings: Set<String> = [
    "NA", "N/A", "n/a", "NULL", "null", "NaN", "nan", "None", "none", "-", "?", ".", "\\N",
  ]

  private var supporting = 0.0
  private var opposing = 0.0
  private var typedHeads: [[UInt8]] = []
  private var namedCount = 0
  private var fieldCount = 0
  private var hasBody = false
  /// Records that say the same as the first one.
  private var repeatCount = 0
  /// So many, and no others, are no headers of files that were joined.
  private static let repeatLimit = 10
  private var hasEmptyHead = false
  /// Names that stand below again.
  private var recurringCount = 0

  /// Columns of numbers and the like below the second record, and how many of them have a name in both.
  private var typedColumnCount = 0
  private var namedTwiceCount = 0
  /// Columns of numbers and the like that have a name in the first record, and nothing in the second one.
  private var namedOnceCount = 0

  /// Whether the second record names columns, too.
  var isSecondRowHeader: Bool {
    typedColumnCount > 1 && namedTwiceCount + namedOnceCount == typedColumnCount && namedTwiceCount > namedOnceCount
  }

  /// Looks whether the second record is a part of the header.
  init(_ table: SampleRecords, hasSecondRow: Bool) {
    guard table.records.count > 3 else { return }
    let rows = table.records.prefix(2).map { table.texts(of: $0) }
    let body = table.records.dropFirst(2).prefix(Self.bodyLimit).filter { !$0.isBroken }
    for column in 0..<(rows.map(\.count).max() ?? 0) {
      let values = body.compactMap { record -> [UInt8]? in
        guard column < record.fields.count else { return nil }
        let text = table.text(record.fields.lowerBound + column)
        return text.isEmpty ? nil : text
      }
      guard values.count > 1, values.count(where: { CellLook($0).isTyped }) * 5 >= values.count * 4 else { continue }
      typedColumnCount += 1
      let first = column < rows[0].count ? CellLook(rows[0][column]) : .empty
      guard column < rows[1].count, !first.isTyped || CellLook.isYear(rows[0][column]) else { continue }
      let second = rows[1][column]
      if second.isEmpty && first != .empty { namedOnceCount += 1 }
      if second.isEmpty || CellLook(second).isTyped { continue }
      if !Self.missingSpellings.contains(String(decoding: second, as: UTF8.self)) { namedTwiceCount += 1 }
    }
  }

  /// Whether the second record has texts only, above numbers and the like in one column at least.
  static func hasNamesBelow(_ table: SampleRecords) -> Bool {
    guard table.records.count > 3, !table.records[1].isBroken else { return false }
    let names = table.texts(of: table.records[1])
    guard names.allSatisfy({ !$0.isEmpty && !CellLook($0).isTyped && !missingSpellings.contains(String(decoding: $0, as: UTF8.self)) }),
      Set(names).count == names.count
    else { return false }
    let body = table.records.dropFirst(2).prefix(bodyLimit).filter { $0.fields.count == names.count && !$0.isBroken }
    return body.count > 1 && names.indices.contains { column in
      body.allSatisfy { CellLook(table.text($0.fields.lowerBound + column)).isTyped }
    }
  }

  /// - Parameter start: the index of the record that is judged.
  init(_ table: SampleRecords, from start: Int = 0) {
    let records = table.records[min(start, table.records.count)...]
    guard let first = records.first else { return }
    let heads = table.texts(of: first)
    fieldCount = heads.count
    hasEmptyHead = heads[0].isEmpty
    let modalCount = table.shape(of: records).fieldCount
    let body = records.dropFirst().prefix(Self.bodyLimit).filter {
      $0.fields.count == modalCount && !$0.isBroken && !table.repeats(first, in: $0)
    }
    hasBody = !body.isEmpty
    if !hasBody { repeatCount = records.dropFirst().count { table.repeats(first, in: $0) } }
    // Of a header that leaves the first column out, the names belong to the columns from the second on.
    let shift = start == 0 && table.hasRowNames ? 1 : 0
    for (column, head) in heads.enumerated() {
      let values = body.compactMap { record -> [UInt8]? in
        guard column + shift < record.fields.count else { return nil }
        let text = table.text(record.fields.lowerBound + column + shift)
        return text.isEmpty ? nil : text
      }
      judge(head, above: values)
    }
  }

  /// Whether the first record is a header; when in doubt it is.
  var hasHeader: Bool {
    if fieldCount == 0 { return false }
    if !hasBody && repeatCount >= Self.repeatLimit { return false }
    if !hasBody { return typedHeads.isEmpty || typedHeads.allSatisfy(CellLook.isYear) && namedCount > 0 }
    if opposing == 0 { return true }
    return supporting > opposing || isPivot
  }

  /// Whether the first record is taken for data only because its values stand below again.
  var isRecurring: Bool { !hasHeader && recurringCount > 0 && opposing == 0.75 * Double(recurringCount) }

  /// Whether the first record holds one name and then 1, 2, 3 or 0, 1, 2.
  var isCounting: Bool { !hasHeader && namedCount == 1 && typedHeads.count == fieldCount - 1 && countsOn }

  /// Whether the typed cells of the first record are consecutive integers from 0 or 1 on.
  private var countsOn: Bool {
    let numbers = typedHeads.compactMap { Int(String(decoding: $0, as: UTF8.self)) }
    guard numbers.count > 1, numbers.count == typedHeads.count, let first = numbers.first, (0...1).contains(first) else { return false }
    return numbers == Array(first..<(first + numbers.count))
  }

  /// Whether what stands below says that the first record is a header.
  var isSupported: Bool { supporting > opposing }

  private mutating func judge(_ head: [UInt8], above values: [[UInt8]]) {
    let look = CellLook(head)
    if look == .empty || Self.missingSpellings.contains(String(decoding: head, as: UTF8.self)) { return }
    if look.isTyped { typedHeads.append(head) } else { namedCount += 1 }
    if values.isEmpty { return }
    // Where the name stands again the header may.
    let others = look.isTyped ? values : values.filter { $0 != head }
    let typedCount = others.count { CellLook($0).isTyped }
    if !others.isEmpty && typedCount * 5 >= others.count * 4 {
      if !look.isTyped {
        supporting += 2
      } else if !isTime(head, look, above: values) {
        opposing += 2
      }
    } else if look.isTyped {
      if !CellLook.isYear(head) && look != .temporal { opposing += 1 }
    } else if values.count > 1 && values.count > others.count {
      opposing += 0.75
      recurringCount += 1
    } else if values.count > 2, values.allSatisfy({ $0.count == values[0].count }),
      head.count != values[0].count
    {
      supporting += 0.5
    }
  }

  /// Whether a cell says which time the values below it, which are of another kind, belong to.
  private func isTime(_ head: [UInt8], _ look: CellLook, above values: [[UInt8]]) -> Bool {
    if CellLook.isYear(head) { return values.count(where: CellLook.isYear) * 2 <= values.count }
    return look == .temporal && values.allSatisfy { CellLook($0) == .number }
  }

  /// Names that are years, or numbers a constant step apart, beside at most a few of another kind.
  private var isPivot: Bool {
    // A frame without names counts its columns, and leaves the one of its rows without a name.
    if hasEmptyHead && typedHeads.count == fieldCount - 1 && typedHeads.first == [UInt8(ascii: "0")] && countsOn { return true }
    guard typedHeads.count >= 3, typedHeads.count < fieldCount else { return false }
    if typedHeads.allSatisfy(CellLook.isYear) { return Set(typedHeads).count == typedHeads.count }
    if typedHeads.allSatisfy({ CellLook($0) == .temporal }) { return Set(typedHeads).count == typedHeads.count && opposing == 0 }
    let numbers = typedHeads.compactMap { Int(String(decoding: $0, as: UTF8.self)) }
    guard numbers.count == typedHeads.count, numbers.count >= 5 else { return false }
    let steps = Set(zip(numbers, numbers.dropFirst()).map { $1 &- $0 })
    return steps.count == 1 && steps.first != 0
  }
}
