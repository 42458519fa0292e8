import CExpat
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What is told of the elements and texts of an XML document, in their order.
protocol XMLVisitor: AnyObject {
  /// Why nothing more is wanted; is thrown by who reads.
  var failure: UpsurgeError? { get }
  func start(_ name: XMLName, _ attributes: XMLAttributes) -> XMLStep
  func end(_ name: XMLName) -> XMLStep
  func text(_ bytes: UnsafeBufferPointer<UInt8>)
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

/// Reads an XML document by libexpat, as its bytes come. Neither document types nor entities of their own are read.
final class XMLReader {
  enum Outcome {
    /// All that came was read.
    case more
    case suspended, stopped
  }

  private let name: String
  private let visitor: any XMLVisitor
  private var parser: OpaquePointer?
  private var isStopped = false
  private var fedByteCount: Int64 = 0

  /// No name, tag or comment is held that is longer.
  private static let tokenByteLimit: Int64 = 1 << 20

  /// - Parameter name: of the part, for messages.
  /// - Throws: `unreadableInput` without libexpat.
  init(_ name: String, visitor: any XMLVisitor) throws(UpsurgeError) {
    (self.name, self.visitor) = (name, visitor)
    if let problem = upsurge_expat_load() {
      throw UpsurgeError(
        .unreadableInput, "cannot read \(SourceName.shown(name)), which is XML: \(String(cString: problem))",
        position: Position(file: name),
        hint: "install it: apt-get install libexpat1 (Debian, Ubuntu), dnf install expat (Fedora)")
    }
    var callbacks = upsurge_expat_callbacks()
    callbacks.start = { context, name, attributes in
      guard let name else { return }
      let reader = XMLReader.from(context)
      if reader.isStopped { return }
      reader.take(reader.visitor.start(XMLName(name), XMLAttributes(attributes)))
    }
    callbacks.end = { context, name in
      guard let name else { return }
      let reader = XMLReader.from(context)
      if reader.isStopped { return }
      reader.take(reader.visitor.end(XMLName(name)))
    }
    callbacks.text = { context, bytes, count in
      guard let bytes else { return }
      let reader = XMLReader.from(context)
      if reader.isStopped { return }
      let text = UnsafeRawBufferPointer(start: bytes, count: Int(count))
      reader.visitor.text(text.assumingMemoryBound(to: UInt8.self))
    }
    parser = upsurge_expat_new(Unmanaged.passUnretained(self).toOpaque(), callbacks)
    guard parser != nil else {
      throw UpsurgeError(
        .unreadableInput, "there is no memory left for \(SourceName.shown(name))", hint: "free some memory")
    }
  }

  deinit { if let parser { upsurge_expat_free(parser) } }

  private static func from(_ context: UnsafeMutableRawPointer?) -> XMLReader {
    guard let context else { preconditionFailure("libexpat gives back what it was given") }
    return Unmanaged<XMLReader>.fromOpaque(context).takeUnretainedValue()
  }

  private func take(_ step: XMLStep) {
    switch step {
    case .goOn: return
    case .suspend: upsurge_expat_suspend(parser)
    case .stop:
      isStopped = true
      upsurge_expat_stop(parser)
    }
  }

  /// Reads the next bytes; none at the end.
  /// - Throws: `badInput`; what the visitor has failed with.
  func feed(_ bytes: UnsafeRawBufferPointer) throws(UpsurgeError) -> Outcome {
    fedByteCount += Int64(bytes.count)
    let start = bytes.assumingMemoryBound(to: CChar.self).baseAddress
    return try outcome(upsurge_expat_feed(parser, start, Int32(bytes.count), bytes.isEmpty ? 1 : 0))
  }

  /// Goes on after `suspend`.
  func resume() throws(UpsurgeError) -> Outcome { try outcome(upsurge_expat_resume(parser)) }

  private func outcome(_ code: Int32) throws(UpsurgeError) -> Outcome {
    if let failure = visitor.failure { throw failure }
    if isStopped { return .stopped }
    switch Int(code) {
    case UPSURGE_EXPAT_SUSPENDED: return .suspended
    case UPSURGE_EXPAT_OK:
      let byte = upsurge_expat_byte(parser)
      if byte >= 0, fedByteCount - byte > Self.tokenByteLimit {
        throw bad("a tag or comment in it is too long")
      }
      return .more
    default:
      if upsurge_expat_has_type(parser) != 0 {
        throw bad("it has a document type (DOCTYPE), which no workbook needs")
      }
      if upsurge_expat_is_full(parser) != 0 {
        throw bad(
          "it has more names or attributes than any workbook needs, or elements in elements without end")
      }
      throw bad(upsurge_expat_error(parser).map { String(cString: $0).escapedForTerminal } ?? "it is no XML")
    }
  }

  private func bad(_ reason: String) -> UpsurgeError {
    UpsurgeError(
      .badInput,
      "\(SourceName.shown(name)) cannot be read as XML: \(reason), at line \(upsurge_expat_line(parser)) of it",
      position: Position(file: name), hint: WorkbookFault.saveHint)
  }
}
