import CYAML
import Upsurge

/// What a YAML text says next.
struct YAMLEvent {
  enum Kind: Equatable {
    case streamStart, streamEnd, documentStart, documentEnd
    /// `*NAME`.
    case alias(String)
    case scalar(String, isPlain: Bool)
    case listStart, listEnd, mappingStart, mappingEnd
  }

  var kind: Kind
  /// In full: `tag:yaml.org,2002:str` for `!!str`; nil without one.
  var tag: String?
  var mark: yaml_mark_t
}

/// What libyaml says of a text that is no YAML.
struct YAMLFault: Error {
  var problem: String
  var mark: yaml_mark_t
  /// What libyaml was about, and where that began.
  var context: (text: String, mark: yaml_mark_t)?
  /// Of a character that no YAML text may have: its offset, in place of a mark, and itself.
  var character: (byteOffset: Int, value: Int)?
}

/// The events of a text, read with libyaml (`yaml_parser_parse`).
struct YAMLEvents: ~Copyable {
  private let bytes: UnsafeMutableBufferPointer<UInt8>
  private let parser: UnsafeMutablePointer<yaml_parser_t>

  /// - Throws: `unreadableInput` where libyaml is not installed.
  init(_ text: String) throws(UpsurgeError) {
    if let problem = upsurge_yaml_load() {
      throw UpsurgeError(
        .unreadableInput, "cannot read job files: \(String(cString: problem))",
        hint: "install it: apt-get install libyaml-0-2 (Debian, Ubuntu), dnf install libyaml (Fedora)")
    }
    let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.utf8.count)
    _ = bytes.initialize(fromContentsOf: text.utf8)
    guard let parser = upsurge_yaml_open(bytes.baseAddress, bytes.count) else {
      bytes.deallocate()
      throw UpsurgeError(.unreadableInput, "cannot read job files: no memory")
    }
    self.bytes = bytes
    self.parser = parser
  }

  deinit {
    upsurge_yaml_close(parser)
    bytes.deallocate()
  }

  /// Must not be called again after `streamEnd` or an error.
  mutating func next() throws(YAMLFault) -> YAMLEvent {
    var event = yaml_event_t()
    guard upsurge_yaml_next(parser, &event) == 1 else { throw fault }
    defer { upsurge_yaml_release(&event) }
    let (kind, tag) = Self.content(of: event)
    return YAMLEvent(kind: kind, tag: tag, mark: event.start_mark)
  }

  private static func content(of event: yaml_event_t) -> (YAMLEvent.Kind, tag: String?) {
    switch event.type {
    case YAML_STREAM_START_EVENT: return (.streamStart, nil)
    case YAML_STREAM_END_EVENT: return (.streamEnd, nil)
    case YAML_DOCUMENT_START_EVENT: return (.documentStart, nil)
    case YAML_DOCUMENT_END_EVENT: return (.documentEnd, nil)
    case YAML_ALIAS_EVENT: return (.alias(String(cString: event.data.alias.anchor)), nil)
    case YAML_SCALAR_EVENT:
      let scalar = event.data.scalar
      let text = String(
        decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
      return (.scalar(text, isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE), Self.text(scalar.tag))
    case YAML_SEQUENCE_START_EVENT: return (.listStart, Self.text(event.data.sequence_start.tag))
    case YAML_SEQUENCE_END_EVENT: return (.listEnd, nil)
    case YAML_MAPPING_START_EVENT: return (.mappingStart, Self.text(event.data.mapping_start.tag))
    case YAML_MAPPING_END_EVENT: return (.mappingEnd, nil)
    default: preconditionFailure("libyaml has no event \(event.type.rawValue)")
    }
  }

  private static func text(_ tag: UnsafeMutablePointer<UInt8>?) -> String? {
    guard let tag, tag.pointee != 0 else { return nil }
    return String(cString: tag)
  }

  private var fault: YAMLFault {
    let parser = parser.pointee
    var fault = YAMLFault(
      problem: parser.problem.map { String(cString: $0) } ?? "no memory", mark: parser.problem_mark)
    if let context = parser.context { fault.context = (String(cString: context), parser.context_mark) }
    if parser.error == YAML_READER_ERROR {
      fault.character = (Int(parser.problem_offset), Int(parser.problem_value))
    }
    return fault
  }
}
