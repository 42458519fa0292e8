import CExpat
import UpsurgeRecords

/// Reads an XML document by libexpat, as its bytes come. Neither document types nor entities of their own are read.
class XMLReader {
  enum Outcome {
    /// All that came was read.
    case more
    case suspended, stopped
  }

  private let name: String
  private var parser: OpaquePointer?
  private var fedByteCount: Int64 = 0

  /// No name, tag or comment is held that is longer.
  private static let tokenByteLimit: Int64 = 1 << 20

  /// - Parameter name: of the part, for messages.
  /// - Throws: `unreadableInput` without libexpat.
  fileprivate init(_ name: String) throws(UpsurgeError) {
    self.name = name
    if let problem = upsurge_expat_load() {
      throw UpsurgeError(
        .unreadableInput, "cannot read \(SourceName.shown(name)), which is XML: \(String(cString: problem))",
        position: Position(file: name),
        hint: "install it: apt-get install libexpat1 (Debian, Ubuntu), dnf install expat (Fedora)")
    }
    var callbacks = upsurge_expat_callbacks()
    callbacks.start = { context, name, attributes in
      guard let context, let name else { return 0 }
      return Unmanaged<XMLReader>.fromOpaque(context)._withUnsafeGuaranteedRef {
        XMLReader.code($0.start(XMLName(name), XMLAttributes(attributes)))
      }
    }
    callbacks.end = { context, name in
      guard let context, let name else { return 0 }
      return Unmanaged<XMLReader>.fromOpaque(context)._withUnsafeGuaranteedRef {
        XMLReader.code($0.end(XMLName(name)))
      }
    }
    callbacks.text = { context, bytes, count in
      guard let context, let bytes else { return 0 }
      let text = UnsafeRawBufferPointer(start: bytes, count: Int(count)).assumingMemoryBound(to: UInt8.self)
      return Unmanaged<XMLReader>.fromOpaque(context)._withUnsafeGuaranteedRef {
        XMLReader.code($0.text(text))
      }
    }
    parser = upsurge_expat_new(Unmanaged.passUnretained(self).toOpaque(), callbacks)
    guard parser != nil else {
      throw UpsurgeError(
        .unreadableInput, "there is no memory left for \(SourceName.shown(name))", hint: "free some memory")
    }
  }

  deinit { if let parser { upsurge_expat_free(parser) } }

  @inline(__always)
  private static func code(_ step: XMLStep) -> Int32 {
    switch step {
    case .goOn: Int32(UPSURGE_EXPAT_GO_ON)
    case .suspend: Int32(UPSURGE_EXPAT_WAIT)
    case .stop: Int32(UPSURGE_EXPAT_END)
    }
  }

  // MARK: - Who is told

  fileprivate var failure: UpsurgeError? { nil }
  fileprivate func start(_ name: XMLName, _ attributes: XMLAttributes) -> XMLStep { .stop }
  fileprivate func end(_ name: XMLName) -> XMLStep { .stop }
  fileprivate func text(_ bytes: UnsafeBufferPointer<UInt8>) -> XMLStep { .stop }

  // MARK: - Reading

  /// Reads the next bytes; none at the end.
  /// - Throws: `badInput`; what the visitor has failed with.
  final func feed(_ bytes: UnsafeRawBufferPointer) throws(UpsurgeError) -> Outcome {
    fedByteCount += Int64(bytes.count)
    let start = bytes.assumingMemoryBound(to: CChar.self).baseAddress
    return try outcome(upsurge_expat_feed(parser, start, Int32(bytes.count), bytes.isEmpty ? 1 : 0))
  }

  /// Goes on after `suspend`.
  final func resume() throws(UpsurgeError) -> Outcome { try outcome(upsurge_expat_resume(parser)) }

  private func outcome(_ code: Int32) throws(UpsurgeError) -> Outcome {
    if let failure { throw failure }
    if upsurge_expat_has_ended(parser) != 0 { return .stopped }
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

/// Reads a document for a visitor.
final class XMLReading<Visitor: XMLVisitor>: XMLReader {
  /// Where the visitor is, which is told of millions of elements: nothing is counted or checked on the way to it.
  private let place: UnsafeMutablePointer<Visitor>

  init(_ name: String, _ visitor: Visitor) throws(UpsurgeError) {
    place = .allocate(capacity: 1)
    place.initialize(to: visitor)
    try super.init(name)
  }

  deinit {
    place.deinitialize(count: 1)
    place.deallocate()
  }

  /// The visitor as it is after what was read.
  var visitor: Visitor { place.pointee }

  /// Changes the visitor, which is told nothing meanwhile.
  func change<Result>(_ body: (inout Visitor) -> Result) -> Result { body(&place.pointee) }

  override var failure: UpsurgeError? { place.pointee.failure }
  override func start(_ name: XMLName, _ attributes: XMLAttributes) -> XMLStep {
    place.pointee.start(name, attributes)
  }
  override func end(_ name: XMLName) -> XMLStep { place.pointee.end(name) }
  override func text(_ bytes: UnsafeBufferPointer<UInt8>) -> XMLStep { place.pointee.text(bytes) }
}
