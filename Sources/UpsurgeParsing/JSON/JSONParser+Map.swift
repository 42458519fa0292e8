import CScan
import UpsurgeRecords

/// A map of records, each value a record whose name is its key:
///
///     {"a": {"x": 1}, "b": {"x": 2}}      with the column `id` for keys:  a|1  b|2
///
/// A member is read as a whole, name and value, so that its raw bytes are all of it. Nothing of the map is kept but that.
extension JSONParser {
  /// The name of the member in work, as it stands in the arena.
  struct MapName: @unchecked Sendable {
    // Sendable because its pointers are only followed during the call that set it.
    let token: upsurge_json_token
    /// Where the member begins.
    let start: UnsafePointer<UInt8>
  }

  /// Whether the brackets around the place are those of the map.
  var isInMap: Bool { dialect.mapColumn != nil && document.recordDepth != nil }

  /// Before the name of a record.
  mutating func readMember(
    _ place: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>, _ batch: inout Batch, isFinal: Bool
  ) throws(UpsurgeError) -> Progress {
    if !Self.hasRoom(batch) { return .pauses }
    var token = upsurge_json_token()
    let code = Int(upsurge_json_read_string(place + 1, end, end, &token))
    if code == UPSURGE_JSON_CUT && !isFinal {
      if isStillCut(place, end: end, batch, isFinal: isFinal) { return .pauses }
      noteCut(place, end: end, batch)
      return .pauses
    }
    if code != UPSURGE_JSON_OK {
      throw syntaxError(JSONFault(kind: .kernel(code), at: token.next), end: end, batch)
    }
    var p: UnsafePointer<UInt8> = upsurge_json_skip_space(token.next, end)
    if p < end {
      if p.pointee != UInt8(ascii: ":") {
        throw syntaxError(JSONFault(kind: .kernel(UPSURGE_JSON_NO_COLON), at: p), end: end, batch)
      }
      p = upsurge_json_skip_space(p + 1, end)
    }
    if p >= end {
      if !isFinal { return .pauses }
      throw syntaxError(JSONFault(kind: .kernel(UPSURGE_JSON_CUT), at: p), end: end, batch)
    }
    record.mapName = MapName(token: token, start: place)
    defer { record.mapName = nil }
    return try readElement(p, end: end, &batch, isFinal: isFinal)
  }

  /// Puts the name of the member into its column, after what the record says.
  /// - Throws: `badInput` where the record has that column itself.
  mutating func storeMapName(
    _ name: MapName, _ frame: inout JSONFrame, _ batch: borrowing Batch
  ) throws(UpsurgeError) {
    guard record.fault == nil, let column = dialect.mapColumn else { return }
    let slot = columnNames.slot(of: column)
    if slot == Int(JSONKeyTable.skipped) { return }
    if slot >= 0 && slot < frame.columnCount {
      if frame.row[slot].kind != .absent { throw taken(column, by: name, batch) }
      store(name.token, slot: slot, affinity: columns[slot].affinity, &frame)
    } else {
      if let place = record.newNames.place(of: column, for: Self.mapKey), record.newNames[place].isAsked {
        throw taken(column, by: name, batch)
      }
      wait(name.token, name: column, key: Self.mapKey, frame)
    }
  }

  /// Stands for the entry of a key among new names.
  private static let mapKey = -1

  private func taken(_ column: String, by name: MapName, _ batch: borrowing Batch) -> UpsurgeError {
    UpsurgeError(
      .badInput,
      "the record has \(column.escapedForTerminal) itself, and \(.jsonMap, column.escapedForTerminal) puts its key in the map there",
      position: position(of: name.start, batch),
      hint: "\(.jsonMap, "NAME") gives the keys of the map a column of another name")
  }

  /// Makes the record's bytes those of the whole member.
  func widenToMember(_ name: MapName, _ batch: inout Batch) {
    let index = batch.recordCount - 1
    let offset = name.start - UnsafePointer(batch.arena)
    let (position, difference) = (batch.records[index], Int(batch.records[index].arenaOffset) - offset)
    batch.records[index] = RecordPosition(
      arenaOffset: offset, byteCount: Int(position.byteCount) + difference, line: line(of: name.start, batch),
      number: position.number)
  }
}
