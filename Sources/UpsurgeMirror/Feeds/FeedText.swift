import UpsurgeRecords

/// What a feed's record holds as JSON.
enum FeedText {
  /// - Parameter hasDelivered: whether anything of the feed was ever committed.
  static func encode(_ identity: FeedIdentity, hasDelivered: Bool) -> String {
    var out = JSONText()
    out.beginObject()
    out.key("kind")
    out.string(identity.kind)
    out.key("source")
    out.strings(identity.sources)
    out.key("key")
    out.strings(identity.key)
    if let scope = identity.scope {
      out.key("scope")
      out.string(scope)
    }
    if let headers = identity.headers {
      out.key("headers")
      out.beginObject()
      for (name, mark) in headers.sorted(by: { $0.key < $1.key }) {
        out.key(name)
        out.string(mark)
      }
      out.endObject()
    }
    if !identity.values.isEmpty {
      out.key("values")
      out.strings(identity.values)
    }
    if let records = identity.records {
      out.key("records")
      out.strings(records)
    }
    if !hasDelivered {
      out.key("delivered")
      out.bool(false)
    }
    if let mark = identity.secretMark {
      out.key("secrets")
      out.string(mark)
    }
    out.endObject()
    return String(decoding: out.bytes, as: UTF8.self)
  }

  /// What `encode` has written. A text without `delivered` is of a feed that has delivered.
  static func feed(_ text: String) throws(UpsurgeError) -> (identity: FeedIdentity, hasDelivered: Bool) {
    let value = try JSONValue(text)
    guard let kind = value["kind"]?.text, let sources = value["source"]?.texts, let key = value["key"]?.texts
    else { throw unreadable }
    var headers: [String: String]?
    if case .object(let members)? = value["headers"] {
      headers = Dictionary(members.map { ($0.name, $0.value.text ?? "") }) { _, last in last }
    }
    let identity = FeedIdentity(
      kind: kind, sources: sources, key: key, scope: value["scope"]?.text, headers: headers,
      secretMark: value["secrets"]?.text, values: value["values"]?.texts ?? [],
      records: value["records"]?.texts)
    return (identity, value["delivered"] != .bool(false))
  }

  static func encode(_ files: [DeliveredFile]) -> String {
    var out = JSONText()
    out.beginArray()
    for file in files {
      out.beginObject()
      out.key("name")
      out.string(file.name)
      out.key("bytes")
      out.number(file.byteCount)
      out.key("hash")
      out.string(String(file.hash, radix: 16))
      out.key("stamp")
      out.beginArray()
      for part in [file.stamp.modified, file.stamp.changed, Int64(bitPattern: file.stamp.inode)] {
        out.number(part)
      }
      out.endArray()
      out.endObject()
    }
    out.endArray()
    return String(decoding: out.bytes, as: UTF8.self)
  }

  static func files(_ text: String) throws(UpsurgeError) -> [DeliveredFile] {
    guard case .array(let values) = try JSONValue(text) else { throw unreadable }
    var files: [DeliveredFile] = []
    for value in values {
      guard let name = value["name"]?.text, case .integer(let bytes)? = value["bytes"],
        let hash = value["hash"]?.text.flatMap({ UInt64($0, radix: 16) }),
        case .array(let parts)? = value["stamp"],
        case .integer(let modified)? = parts.first, parts.count == 3, case .integer(let changed) = parts[1],
        case .integer(let inode) = parts[2]
      else { throw unreadable }
      files.append(
        DeliveredFile(
          name: name, byteCount: UInt64(clamping: bytes), hash: hash,
          stamp: DeliveredFile.Stamp(
            modified: modified, changed: changed, inode: UInt64(bitPattern: inode),
            byteCount: UInt64(clamping: bytes))))
    }
    return files
  }

  static var unreadable: UpsurgeError {
    UpsurgeError(
      .guardRefused, "the table upsurge_feeds holds what this version cannot read",
      hint: "use the version that wrote it, or delete the row to begin anew")
  }
}
