/// The SQL of `--init` and `LoadOptions.Table.initSQL`, read before anything is made.
struct InitScript {
  private let parts: [(name: String, sql: String)]

  /// Longer files are no settings.
  private static let byteLimit = 16 << 20

  /// - Throws: `unreadableInput` when the file is missing, `usage` when it is no text.
  init(options: LoadOptions) throws(UpsurgeError) {
    var parts: [(name: String, sql: String)] = []
    if let path = options.table.initPath { parts.append((path, try Self.read(path))) }
    if let sql = options.table.initSQL { parts.append(("the init SQL", sql)) }
    self.parts = parts
  }

  /// Distinguishes other SQL from this; nil without any.
  var hash: String? {
    if parts.isEmpty { return nil }
    var bytes: [UInt8] = []
    for part in parts { bytes += Array(part.sql.utf8) + [0] }
    return String(bytes.withUnsafeBytes { ContentHash.hash($0) }, radix: 16)
  }

  /// Prepares the run's connection, before the table is looked at, so that TEMP triggers are seen.
  func run(on connection: Connection) throws(UpsurgeError) {
    for part in parts { try connection.runScript(part.sql, name: part.name) }
  }

  private static func read(_ path: String) throws(UpsurgeError) -> String {
    if Source(path).isFeed {
      throw UpsurgeError(
        .usage, "\(.initScript) takes a file, which \(SourceName.shown(path)) is not",
        hint: "store the script in a file first")
    }
    let source = try FileSource(name: path)
    var bytes: [UInt8] = []
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    defer { buffer.deallocate() }
    while true {
      let count = try source.read(into: buffer)
      if count == 0 { break }
      bytes += buffer.prefix(count)
      if bytes.count > byteLimit {
        throw UpsurgeError(
          .usage, "\(path.escapedForTerminal) is larger than 16 MiB, which no \(.initScript, "file") is")
      }
    }
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw UpsurgeError(
        .usage, "\(path.escapedForTerminal) is not UTF-8", hint: "save it as UTF-8: \(.initScript) takes SQL text")
    }
    return text
  }
}

extension TriggerPolicy {
  /// What a person should know of the triggers of a table under this policy.
  /// - Returns: nil when there is nothing to say.
  func note(of triggers: [TriggerText], table: String) -> Wording? {
    guard self == .guarded else { return nil }
    if triggers.contains(where: { $0.calls("upsurge_is_synchronizing") }) { return nil }
    if triggers.isEmpty { return "\(.triggers, "guarded") changes nothing: the table \(table) has no trigger" }
    let names = triggers.map(\.name).joined(separator: ", ")
    return
      "\(.triggers, "guarded") changes nothing: no trigger of \(table) asks upsurge_is_synchronizing() (\(names))"
  }
}
