/// Members of objects, and whole objects and arrays.
extension JSONText {
  package mutating func member(_ name: String, _ value: String) {
    key(name)
    string(value)
  }

  package mutating func member(_ name: String, _ value: UInt64) {
    key(name)
    number(value)
  }

  package mutating func member(_ name: String, _ value: Int64) {
    key(name)
    number(value)
  }

  /// A double as `number` writes it: with six decimals at most.
  package mutating func member(_ name: String, _ value: Double) {
    key(name)
    number(value)
  }

  package mutating func member(_ name: String, _ value: Bool) {
    key(name)
    bool(value)
  }

  package mutating func member(_ name: String, _ values: [String]) {
    key(name)
    strings(values)
  }

  /// Text, or null.
  package mutating func member(_ name: String, orNull value: String?) {
    key(name)
    if let value { string(value) } else { null() }
  }

  /// A member that is an object, whose members `write` adds.
  package mutating func member(_ name: String, _ write: (inout JSONText) -> Void) {
    key(name)
    object(write)
  }

  /// A member that is an array of objects: `write` adds the members of each.
  package mutating func member<Element>(
    _ name: String, _ elements: some Sequence<Element>, _ write: (inout JSONText, Element) -> Void
  ) {
    key(name)
    array(elements, write)
  }

  /// An array of objects: `write` adds the members of each.
  package mutating func array<Element>(
    _ elements: some Sequence<Element>, _ write: (inout JSONText, Element) -> Void
  ) {
    beginArray()
    for element in elements { object { write(&$0, element) } }
    endArray()
  }

  /// An object, whose members `write` adds.
  package mutating func object(_ write: (inout JSONText) -> Void) {
    beginObject()
    write(&self)
    endObject()
  }

  /// One object with a line end, whose members `write` adds: what a command prints for programs.
  package static func line(_ write: (inout JSONText) -> Void) -> [UInt8] {
    var text = JSONText()
    text.object(write)
    text.newline()
    return text.bytes
  }
}
