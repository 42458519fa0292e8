import CScan
import UpsurgeRecords

/// An object that is no record but holds the records in an array, or as its values:
///
///     {"meta": {"page": 1}, "items": [{"id": 1}, {"id": 2}]}      items
///     {"response": {"data": [{"id": 1}]}}                         response.data
///     {"data": {"a": {"x": 1}, "b": {"x": 2}}}                    data, a map
package struct JSONWrapper: Sendable, Equatable {
  /// The keys that lead to the arrays of objects, those of the level that has any first.
  package var paths: [[String]] = []
  /// The objects all of whose values are objects of one kind, where they are above all arrays.
  package var maps: [JSONMapShape] = []
  /// Whether texts or numbers stand beside them, as in a record that has children.
  package var hasValues = false

  /// Arrays further down belong to a record.
  private static let arrayLevelLimit = 3
  /// The records of a map that is two levels down have their keys there.
  private static let levelLimit: Int32 = 4

  /// - Parameters:
  ///   - sample: The first bytes of the input.
  ///   - isWhole: Whether they are all of it.
  /// - Returns: nil when the sample is anything but one object, as far as it goes, or holds no such array.
  package init?(_ sample: UnsafeBufferPointer<UInt8>, isWhole: Bool) {
    guard let base = sample.baseAddress else { return nil }
    let end = base + sample.count
    let start: UnsafePointer<UInt8> = upsurge_json_skip_space(base, end)
    guard start < end, start.pointee == UInt8(ascii: "{") else { return nil }
    var walk = Walk(end: end)
    guard let rest = walk.run(from: start) else { return nil }
    if rest < end || (isWhole && !walk.isWhole) { return nil }
    // Without any other array of records, an empty one may have held them.
    let found = walk.filled.isEmpty && !walk.hasValues && walk.isWhole ? walk.empty : walk.filled
    let level = found.map(\.count).min() ?? .max
    paths = found.filter { $0.count == level }
    walk.closeObjects(to: 0)
    let mapLevel = walk.maps.map(\.path.count).min() ?? .max
    if mapLevel < level { maps = walk.maps.filter { $0.path.count == mapLevel } }
    if !maps.isEmpty { paths = [] }
    if paths.isEmpty && maps.isEmpty { return nil }
    hasValues = walk.hasValues
  }

  /// A walk over the keys of an object and the objects in it.
  private struct Walk {
    let end: UnsafePointer<UInt8>
    var machine = upsurge_json_machine()
    var keys: [String] = []
    /// Paths of arrays that begin with an object, and of arrays without elements.
    var filled: [[String]] = []
    var empty: [[String]] = []
    var hasValues = false
    /// The objects around the place, from the outside, and maps that have ended.
    var objects: [JSONMapShape.Object] = []
    var maps: [JSONMapShape] = []

    init(end: UnsafePointer<UInt8>) {
      self.end = end
      upsurge_json_machine_start(&machine, Int32(JSONDialect.depthLimit))
      machine.allows_any_bytes = true
      machine.watch_depth = JSONWrapper.levelLimit
    }

    /// Whether the object ended.
    var isWhole: Bool { machine.depth == 0 }

    /// - Returns: Where the object, or what there is of it, ended; nil when it is not JSON.
    mutating func run(from start: UnsafePointer<UInt8>) -> UnsafePointer<UInt8>? {
      var p = start
      while true {
        var at: UnsafePointer<UInt8>? = p
        let code = Int(upsurge_json_machine_run(&machine, &at, end, false))
        p = at ?? end
        switch code {
        case UPSURGE_JSON_OK, UPSURGE_JSON_TRAILING: return p
        case UPSURGE_JSON_AT_KEY:
          guard let next = readKey(p) else { return end }
          p = next
        case UPSURGE_JSON_AT_VALUE:
          look(at: p)
          upsurge_json_machine_pass(&machine)
        default: return nil
        }
      }
    }

    private mutating func readKey(_ p: UnsafePointer<UInt8>) -> UnsafePointer<UInt8>? {
      var token = upsurge_json_token()
      guard Int(upsurge_json_read_string(p + 1, end, end, &token)) == UPSURGE_JSON_OK else { return nil }
      machine.watch_depth = JSONWrapper.levelLimit
      keys.removeLast(max(0, keys.count - Int(machine.depth) + 1))
      keys.append(JSONKeyTable.name(UnsafeBufferPointer(start: token.start, count: token.next - token.start)))
      closeObjects(to: Int(machine.depth))
      if let name = keys.last, !objects.isEmpty { objects[objects.count - 1].keys.insert(name) }
      upsurge_json_machine_key_read(&machine)
      return token.next
    }

    /// Ends the objects that are deeper than so many brackets.
    mutating func closeObjects(to depth: Int) {
      while objects.count > depth {
        let object = objects.removeLast()
        if let map = object.map, maps.count < 8 { maps.append(map) }
        // What the sample has cut may have more.
        if depth > 0 || isWhole, !objects.isEmpty { objects[objects.count - 1].add(object) }
      }
    }

    private mutating func look(at p: UnsafePointer<UInt8>) {
      let depth = Int(machine.depth)
      if keys.count == depth {
        closeObjects(to: depth)
        let isObject = p.pointee == UInt8(ascii: "{")
        let isNested = isObject || p.pointee == UInt8(ascii: "[")
        if !objects.isEmpty { objects[objects.count - 1].note(isObject: isObject, isNested: isNested) }
        if isObject, depth < Int(JSONWrapper.levelLimit) { objects.append(JSONMapShape.Object(path: keys)) }
      }
      switch p.pointee {
      case UInt8(ascii: "["):
        // Its elements pass unseen, until a key of the objects around it.
        machine.watch_depth = machine.depth
        if depth == 0 || depth > JSONWrapper.arrayLevelLimit || keys.count != depth { return }
        let first: UnsafePointer<UInt8> = upsurge_json_skip_space(p + 1, end)
        if first == end { return }
        if first.pointee == UInt8(ascii: "{") { filled.append(keys) }
        if first.pointee == UInt8(ascii: "]") { empty.append(keys) }
      case UInt8(ascii: "\""), UInt8(ascii: "-"), 0x30...0x39: if depth == 1 { hasValues = true }
      default: break
      }
    }
  }
}
