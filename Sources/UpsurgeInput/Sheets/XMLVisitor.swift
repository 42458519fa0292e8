import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What is told of the elements and texts of an XML document, in their order.
protocol XMLVisitor {
  /// Why nothing more is wanted; is thrown by who reads.
  var failure: UpsurgeError? { get }
  mutating func start(_ name: XMLName, _ attributes: XMLAttributes) -> XMLStep
  mutating func end(_ name: XMLName) -> XMLStep
  mutating func text(_ bytes: UnsafeBufferPointer<UInt8>) -> XMLStep
}

extension XMLVisitor {
  func end(_ name: XMLName) -> XMLStep { .goOn }
  func text(_ bytes: UnsafeBufferPointer<UInt8>) -> XMLStep { .goOn }
}

/// What is to happen after an element.
enum XMLStep {
  case goOn
  /// Reading waits until it is resumed.
  case suspend
  /// Nothing more is wanted.
  case stop
}

/// The name of an element without its prefix. Valid within the call that has it.
struct XMLName {
  private let text: UnsafePointer<CChar>

  init(_ text: UnsafePointer<CChar>) { self.text = XMLName.local(text) }

  /// What follows the prefix: documents choose prefixes as they like.
  static func local(_ text: UnsafePointer<CChar>) -> UnsafePointer<CChar> {
    if text[0] == 0 || text[1] == 0 { return text }
    guard let colon = strchr(text, Int32(UInt8(ascii: ":"))) else { return text }
    return UnsafePointer(colon) + 1
  }

  @inline(__always)
  static func == (name: XMLName, text: StaticString) -> Bool { equals(name.text, text) }

  @inline(__always)
  static func ~= (text: StaticString, name: XMLName) -> Bool { equals(name.text, text) }

  @inline(__always)
  static func equals(_ name: UnsafePointer<CChar>, _ text: StaticString) -> Bool {
    UInt8(bitPattern: name[0]) == text.utf8Start[0]
      && strcmp(name, UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)) == 0
  }
}

/// The attributes of an element. Valid within the call that has them.
struct XMLAttributes {
  private let list: UnsafeMutablePointer<UnsafePointer<CChar>?>?

  init(_ list: UnsafeMutablePointer<UnsafePointer<CChar>?>?) { self.list = list }

  /// The value of the attribute with a name, without its prefix.
  func value(_ name: StaticString) -> UnsafePointer<CChar>? {
    first { XMLName.equals(XMLName.local($0), name) }
  }

  /// The value of the attribute that is written so, prefix and all.
  func exactly(_ name: StaticString) -> UnsafePointer<CChar>? { first { XMLName.equals($0, name) } }

  private func first(where isWanted: (UnsafePointer<CChar>) -> Bool) -> UnsafePointer<CChar>? {
    var found: UnsafePointer<CChar>?
    each { name, value in
      if found == nil && isWanted(name) { found = value }
    }
    return found
  }

  /// All of them, as they are written.
  @inline(__always)
  func each(_ body: (_ name: UnsafePointer<CChar>, _ value: UnsafePointer<CChar>) -> Void) {
    guard let list else { return }
    var at = 0
    while let name = list[at], let value = list[at + 1] {
      body(name, value)
      at += 2
    }
  }

  static func bytes(_ text: UnsafePointer<CChar>) -> [UInt8] {
    Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
  }

  func text(_ name: StaticString) -> String? { value(name).map { String(cString: $0) } }

  /// A whole number that is not negative; nil for anything else.
  func number(_ name: StaticString) -> Int? { value(name).flatMap(XMLAttributes.number) }

  static func number(_ text: UnsafePointer<CChar>) -> Int? {
    var (at, number) = (0, 0)
    while text[at] != 0 {
      let digit = Int(UInt8(bitPattern: text[at])) - 0x30
      guard (0...9).contains(digit), number < 1 << 40 else { return nil }
      number = number * 10 + digit
      at += 1
    }
    return at == 0 ? nil : number
  }

  /// Whether a truth is said: `1` or `true`.
  func isTrue(_ name: StaticString) -> Bool {
    guard let text = value(name) else { return false }
    return XMLName.equals(text, "1") || XMLName.equals(text, "true")
  }
}
