import UpsurgeParsing
import UpsurgeRecords

/// What records NDJSON or a document holds, by the slow reader, under the policy `.add(.warn)`.
struct OracleRecords {
  var dialect: JSONDialect
  var columns: [ColumnTarget] = []
  var slots: [String: Int] = [:]
  var records: [[String: RecordValue]] = []
  /// Number of the record and its code.
  var rejects: [UInt64: Reject.Code] = [:]
  var duplicateCount: UInt64 = 0
  private var number: UInt64 = 0
  private var header: [[UInt8]]?
  private var hasObjects = false

  init(dialect: JSONDialect, columns: [ColumnTarget] = []) {
    self.dialect = dialect
    for column in columns { add(column) }
  }

  struct Unreadable: Error {}

  mutating func read(_ bytes: [UInt8]) throws {
    if dialect.format == .ndjson { try readLines(bytes) } else { try readDocument(bytes) }
    for name in header ?? [] where number == 0 {
      add(ColumnTarget(name: String(decoding: name, as: UTF8.self), affinity: .none, spellingPolicy: .warn))
    }
  }

  private mutating func readLines(_ bytes: [UInt8]) throws {
    for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
      if line.allSatisfy({ [0x20, 0x09, 0x0D].contains($0) }) { continue }
      do {
        try take(try OracleJSON.parse(line, maximumDepth: dialect.maximumDepth))
      } catch let fault as OracleJSON.Fault {
        let first = line.first { ![0x20, 0x09, 0x0D].contains($0) }
        if first == UInt8(ascii: "[") && header == nil && !hasObjects { throw Unreadable() }
        number += 1
        rejects[number] = code(fault)
      }
    }
  }

  private mutating func readDocument(_ bytes: [UInt8]) throws {
    var value = try OracleJSON.parse(bytes[...], maximumDepth: dialect.maximumDepth)
    for key in dialect.jsonPath {
      guard case .object(let members) = value else { throw Unreadable() }
      let found = members.filter { $0.key == Array(key.utf8) }
      guard found.count == 1, let first = found.first else { throw Unreadable() }
      value = first.value
    }
    switch value {
    case .array(let elements): for element in elements { try take(element.value) }
    case .object where dialect.jsonPath.isEmpty: try take(value)
    default: throw Unreadable()
    }
  }

  private func code(_ fault: OracleJSON.Fault) -> Reject.Code {
    switch fault.kind {
    case .syntax: .jsonSyntax
    case .notUTF8: .invalidUTF8
    case .tooDeep: .tooDeep
    }
  }

  private mutating func take(_ value: OracleJSON) throws {
    switch value {
    case .object(let members) where header == nil:
      number += 1
      if let code = takeObject(members) { rejects[number] = code } else { hasObjects = true }
    case .array(let elements) where !hasObjects:
      guard let header else { return try takeHeader(elements) }
      number += 1
      if elements.count != header.count {
        rejects[number] = .ragged
      } else if let code = takeObject(zip(header, elements).map { ($0, $1.value, $1.raw) }) {
        rejects[number] = code
      }
    default:
      number += 1
      rejects[number] = .notAnObject
    }
  }

  private mutating func takeHeader(_ elements: [(value: OracleJSON, raw: ArraySlice<UInt8>)]) throws {
    let names = elements.map { element -> [UInt8]? in
      if case .string(let name) = element.value { name } else { nil }
    }
    let known = names.compactMap { $0 }
    let named = known.filter { !$0.isEmpty }
    var folded = Set(named.map { String(decoding: $0, as: UTF8.self).nameKey })
    guard !names.isEmpty, known.count == names.count, folded.count == named.count,
      !known.contains(where: { $0.contains(0) })
    else { throw Unreadable() }
    // Names that are empty are numbered, by their place or the first number that is free.
    header = known.enumerated().map { index, name in
      if !name.isEmpty { return name }
      var new = "column_\(index + 1)"
      var number = 2
      while !folded.insert(new).inserted {
        new = "column_\(index + 1)_\(number)"
        number += 1
      }
      return Array(new.utf8)
    }
  }

  /// Keys with their values in order, nested objects taken apart when flattening.
  private func flat(
    _ members: [(key: [UInt8]?, value: OracleJSON, raw: ArraySlice<UInt8>)], prefix: [UInt8]
  ) -> [(key: [UInt8]?, value: OracleJSON, raw: ArraySlice<UInt8>)] {
    members.flatMap { member -> [(key: [UInt8]?, value: OracleJSON, raw: ArraySlice<UInt8>)] in
      let key = member.key.map { prefix + $0 }
      guard let separator = dialect.flattenSeparator, case .object(let inner) = member.value, !inner.isEmpty,
        Self.blob(member.value, member.raw) == nil
      else { return [(key, member.value, member.raw)] }
      guard let key else { return [(nil, member.value, member.raw)] }
      return flat(inner, prefix: key + Array(separator.utf8))
    }
  }

  /// - Returns: Why the record is a reject, or nil.
  private mutating func takeObject(
    _ members: [(key: [UInt8]?, value: OracleJSON, raw: ArraySlice<UInt8>)]
  ) -> Reject.Code? {
    var values: [String: (value: OracleJSON, raw: ArraySlice<UInt8>, name: String)] = [:]
    var order: [String] = []
    var duplicates: UInt64 = 0
    for (key, value, raw) in flat(members, prefix: []) {
      guard let key else { return .loneSurrogate }
      if key.contains(0) { return .jsonSyntax }
      let name = key.isEmpty ? "unnamed" : String(decoding: key, as: UTF8.self)
      let folded = name.nameKey
      if values[folded] != nil && dialect.duplicateKeys == .reject { return .duplicateKey }
      if case .string(nil) = value { return .loneSurrogate }
      if let before = values[folded] {
        duplicates += 1
        values[folded] = (value, raw, before.name)
      } else {
        order.append(folded)
        values[folded] = (value, raw, name)
      }
    }
    duplicateCount += duplicates
    var record: [String: RecordValue] = [:]
    for folded in order {
      guard let (value, raw, name) = values[folded] else { continue }
      let first = members.count == order.count ? value : firstValue(of: folded, members) ?? value
      if slots[folded] == nil {
        let isBlob = members.count == order.count && Self.blob(value, raw) != nil
        add(ColumnTarget(name: name, affinity: isBlob ? .none : affinity(of: first), spellingPolicy: .warn))
      }
      guard let slot = slots[folded] else { continue }
      switch Self.blob(value, raw) {
      case .reject(let code): return code
      case .bytes(let bytes):
        record[columns[slot].name] = .text(bytes)
        continue
      case nil: break
      }
      record[columns[slot].name] = stored(value, raw, columns[slot].affinity)
    }
    records.append(record)
    return nil
  }

  private func firstValue(
    of folded: String, _ members: [(key: [UInt8]?, value: OracleJSON, raw: ArraySlice<UInt8>)]
  ) -> OracleJSON? {
    flat(members, prefix: []).first {
      let key = $0.key ?? []
      return (key.isEmpty ? "unnamed" : String(decoding: key, as: UTF8.self).nameKey) == folded
    }?.value
  }

  private mutating func add(_ column: ColumnTarget) {
    slots[column.name.nameKey] = columns.count
    columns.append(column)
  }

  private func affinity(of value: OracleJSON) -> Affinity {
    switch value {
    case .null: .none
    case .bool: .integer
    case .number(let text):
      switch number(text, .none) {
      case .integer: .integer
      case .real: .real
      default: .text
      }
    default: .text
    }
  }

  private func stored(_ value: OracleJSON, _ raw: ArraySlice<UInt8>, _ affinity: Affinity) -> RecordValue {
    switch value {
    case .null: .null
    case .bool(let flag): .integer(flag ? 1 : 0)
    case .number(let text): number(text, affinity)
    case .string(let text): string(text ?? [], affinity)
    case .array, .object: .text(Array(raw))
    }
  }

  private func number(_ text: String, _ affinity: Affinity) -> RecordValue {
    convert(Array(text.utf8)) { convertNumber($0, count: $1, offset: 0, affinity: affinity, into: $2) }
  }

  private func string(_ text: [UInt8], _ affinity: Affinity) -> RecordValue {
    convert(text) { convertText($0, count: $1, offset: 0, isInSpill: false, affinity: affinity, into: $2) }
  }

  private func convert(
    _ text: [UInt8], _ body: (UnsafePointer<UInt8>, Int, UnsafeMutablePointer<Cell>) -> ConversionNote
  ) -> RecordValue {
    var cell = Cell.absent
    (text + [0]).withUnsafeBufferPointer { buffer in
      if let start = buffer.baseAddress { _ = body(start, text.count, &cell) }
    }
    switch cell.kind {
    case .integer: return .integer(Int64(bitPattern: cell.payload))
    case .real: return .real(cell.payload)
    default: return .text(text)
    }
  }
}
