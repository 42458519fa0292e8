import UpsurgeRecords

/// The columns that the record in work asks for, until it is known to be good.
///
/// A name is looked up by its key first, so that a key which comes again costs nothing but that. What a repeated object
/// takes back stays known, but is not asked for.
struct JSONNewNames {
  struct Name {
    let text: String
    /// Of who asks for it: the entry of its key, or the place in the header of an array.
    var key: Int
    var affinity: Affinity
    /// Where it stands among the new columns.
    var order: Int
    var isAsked: Bool
  }

  private var names: [Name] = []
  private var placesByKey: [Int: Int] = [:]
  private var placesByName: [String: Int] = [:]
  private var nextOrder = 0
  /// Columns that are asked for.
  private(set) var count = 0
  /// Bytes of all names, those that were taken back included.
  private(set) var byteCount = 0

  /// Whether nothing is known.
  var isEmpty: Bool { names.isEmpty }

  mutating func removeAll() {
    if names.isEmpty { return }
    self = JSONNewNames()
  }

  /// The name that a key has asked for.
  func place(ofKey key: Int) -> Int? { placesByKey[key] }

  /// A name that another key has asked for; remembers it for this one.
  mutating func place(of name: String, for key: Int) -> Int? {
    guard let place = placesByName[name.nameKey] else { return nil }
    placesByKey[key] = place
    return place
  }

  subscript(place: Int) -> Name { names[place] }

  /// Asks for a new name.
  mutating func add(_ name: String, key: Int, affinity: Affinity) {
    placesByKey[key] = names.count
    placesByName[name.nameKey] = names.count
    byteCount += name.utf8.count
    names.append(Name(text: name, key: key, affinity: affinity, order: nextOrder, isAsked: true))
    nextOrder += 1
    count += 1
  }

  /// Asks for a name once more that was taken back, after those that are asked for now.
  mutating func askAgain(_ place: Int, key: Int, affinity: Affinity) {
    (names[place].key, names[place].affinity, names[place].isAsked) = (key, affinity, true)
    names[place].order = nextOrder
    nextOrder += 1
    count += 1
  }

  /// Whether a key's value is one that its column waits for.
  func isAsked(byKey key: Int) -> Bool {
    guard let place = placesByKey[key] else { return false }
    return names[place].isAsked && names[place].key == key
  }

  /// Takes back what a key has asked for.
  mutating func takeBack(byKey key: Int) {
    guard let place = placesByKey[key], isAsked(byKey: key) else { return }
    names[place].isAsked = false
    count -= 1
  }

  /// What is asked for, in order.
  var asked: [Name] { names.filter(\.isAsked).sorted { $0.order < $1.order } }
}
