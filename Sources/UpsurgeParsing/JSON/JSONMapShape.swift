/// An object each of whose values seems to be a record, as far as a sample shows.
package struct JSONMapShape: Sendable, Equatable {
  /// The keys that lead to the map.
  package var path: [String]
  /// The first keys of the map, and a name for a column of them that no record has.
  package var names: [String]
  package var column: String

  /// An object on the way.
  struct Object {
    let path: [String]
    var keys: Set<String> = []
    private var hasScalar = false
    private var objectCount = 0
    private var scalarCount = 0
    private var isMixed = false
    /// Keys that all of the objects in it have, and those that any has.
    private var shared: Set<String>?
    private var all: Set<String> = []

    init(path: [String]) { self.path = path }

    /// Notes the kind of a value.
    mutating func note(isObject: Bool, isNested: Bool) {
      if isObject { objectCount += 1 } else { isMixed = true }
      if !isNested { hasScalar = true }
    }

    /// Takes an object that has ended and is a value of this one.
    mutating func add(_ object: Object) {
      if isMixed { return }
      shared = shared?.intersection(object.keys) ?? object.keys
      all.formUnion(object.keys)
      if object.hasScalar { scalarCount += 1 }
    }

    /// The map that it is: of several objects, which mostly have the same keys. One object with other objects in it is a
    /// record.
    var map: JSONMapShape? {
      guard !isMixed, objectCount > 1, let shared, !shared.isEmpty, shared.count * 2 >= all.count,
        scalarCount * 2 >= objectCount
      else { return nil }
      let column = ["key", "id", "name"].first { !all.contains($0) } ?? "map_key"
      return JSONMapShape(path: path, names: Array(keys.sorted().prefix(3)), column: column)
    }
  }
}
