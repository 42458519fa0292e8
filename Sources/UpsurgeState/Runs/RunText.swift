import UpsurgeRecords

/// The parts of a run's record as JSON, as the table `upsurge_runs` holds them.
package enum RunText {
  // MARK: - Job and files

  /// Sources as they stand in the text of a job.
  static func encode(_ sources: [String]) -> String {
    var out = JSONText()
    out.strings(sources)
    return String(decoding: out.bytes, as: UTF8.self)
  }

  package static func encode(_ job: RunJob) -> String {
    var out = JSONText()
    out.beginObject()
    out.key("sources")
    out.strings(job.sources)
    out.key("options")
    out.beginArray()
    for option in job.options {
      out.beginArray()
      out.string(option.name)
      out.string(option.value)
      out.endArray()
    }
    out.endArray()
    if let command = job.command {
      out.member("folder", command.folder)
      out.key("command")
      out.beginArray()
      for word in command.words { out.string(word) }
      out.endArray()
    }
    out.endObject()
    return out.text
  }

  package static func job(_ text: String, table: String) throws(UpsurgeError) -> RunJob {
    let json = try JSONValue(text)
    guard let sources = json["sources"]?.texts, case .array(let list)? = json["options"] else {
      throw fault(text)
    }
    var options: [RunJob.Option] = []
    for element in list {
      guard let pair = element.texts, pair.count == 2 else { throw fault(text) }
      options.append(RunJob.Option(pair[0], pair[1]))
    }
    var job = RunJob(table: table, sources: sources, options: options)
    if let folder = json["folder"]?.text, let words = json["command"]?.texts {
      job.command = RunCommand(folder: folder, words: words)
    }
    return job
  }

  package static func encode(_ files: [RunFile]) -> String {
    var out = JSONText()
    out.beginArray()
    for file in files {
      out.beginObject()
      out.member("name", file.name)
      if let identity = file.identity {
        out.key("bytes")
        out.number(identity.byteCount)
        out.key("modified")
        out.number(identity.modificationTime)
        out.member("head", hex(identity.headHash))
      }
      out.endObject()
    }
    out.endArray()
    return out.text
  }

  package static func files(_ text: String) throws(UpsurgeError) -> [RunFile] {
    guard case .array(let list) = try JSONValue(text) else { throw fault(text) }
    var files: [RunFile] = []
    for element in list {
      guard let name = element["name"]?.text else { throw fault(text) }
      var identity: FileIdentity?
      if let bytes = element["bytes"]?.unsigned, let head = number(element["head"]) {
        identity = FileIdentity(
          byteCount: bytes, modificationTime: element["modified"]?.signed ?? 0, headHash: head)
      }
      files.append(RunFile(name: name, identity: identity))
    }
    return files
  }

  // MARK: - Position

  package static func encode(_ position: RunPosition) -> String {
    var out = JSONText()
    out.beginObject()
    out.key("source")
    out.number(UInt64(position.sourceIndex))
    write(position.position, to: &out)
    if let restart = position.restart {
      out.key("restart")
      out.beginObject()
      for (name, value) in [
        ("byte", restart.byte), ("line", restart.parser.line), ("records", restart.parser.recordCount),
        ("anchor_file", restart.anchor.fileOffset), ("anchor_decoded", restart.anchor.decodedOffset),
      ] {
        out.key(name)
        out.number(value)
      }
      if !restart.parser.details.isEmpty { out.member("parser", restart.parser.details) }
      out.endObject()
    }
    if let block = position.block {
      out.key("block_bytes")
      out.number(UInt64(block.byteCount))
      out.member("block_hash", hex(block.hash))
    }
    if !position.outputLengths.isEmpty {
      out.key("outputs")
      out.beginObject()
      for (option, length) in position.outputLengths.sorted(by: { $0.key < $1.key }) {
        out.key(option)
        out.number(length)
      }
      out.endObject()
    }
    out.key("made_table")
    out.bool(position.madeTable)
    if let lanes = position.lanes {
      out.key("connections")
      out.number(UInt64(lanes.count))
      out.key("seal")
      out.number(lanes.seal)
      out.member("divided_by", lanes.division)
    }
    out.endObject()
    return out.text
  }

  package static func position(_ text: String) throws(UpsurgeError) -> RunPosition {
    let json = try JSONValue(text)
    guard let source = json["source"]?.unsigned else { throw fault(text) }
    var position = RunPosition()
    position.sourceIndex = Int(clamping: source)
    position.position = readPosition(json)
    if let restart = json["restart"] {
      guard let byte = restart["byte"]?.unsigned, let line = restart["line"]?.unsigned,
        let records = restart["records"]?.unsigned, let file = restart["anchor_file"]?.unsigned,
        let decoded = restart["anchor_decoded"]?.unsigned, decoded <= byte
      else { throw fault(text) }
      position.restart = Restart(
        byte: byte,
        parser: ParserState(line: line, recordCount: records, details: restart["parser"]?.text ?? ""),
        anchor: SourceAnchor(fileOffset: file, decodedOffset: decoded))
    }
    if let bytes = json["block_bytes"]?.unsigned, let hash = number(json["block_hash"]) {
      position.block = RunPosition.Block(byteCount: Int(clamping: bytes), hash: hash)
    }
    if case .object(let members)? = json["outputs"] {
      for member in members { position.outputLengths[member.name] = member.value.unsigned }
    }
    position.madeTable = json["made_table"] == .bool(true)
    if let connections = json["connections"] {
      guard let count = connections.unsigned, (2...RunPosition.Lanes.mostCount).contains(Int(clamping: count)),
        let seal = json["seal"]?.unsigned,
        seal < UInt64.max, let division = json["divided_by"]?.text
      else { throw fault(text) }
      position.lanes = RunPosition.Lanes(count: Int(count), seal: seal, division: division)
    }
    return position
  }

  /// Whether a position, as it is stored, is one of a run with several connections.
  package static func hasLanes(_ text: String) -> Bool { text.contains("\"connections\":") }

  // MARK: - Progress

  package static func encode(_ progress: RunProgress) -> String {
    var out = JSONText()
    out.beginObject()
    for (word, count) in progress.ledger.entries {
      out.key(word)
      out.number(count)
    }
    out.key("rejects_by_reason")
    out.beginObject()
    for (code, count) in progress.rejectsByReason.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      out.key(code.rawValue)
      out.number(count)
    }
    out.endObject()
    out.key("warnings")
    out.beginArray()
    for entry in progress.warnings.entries {
      out.beginObject()
      out.member("code", entry.code.rawValue)
      if let column = entry.column { out.member("column", column) }
      out.key("count")
      out.number(entry.count)
      write(entry.first, to: &out)
      out.endObject()
    }
    out.endArray()
    out.key("superseded")
    out.number(progress.supersededCount)
    out.key("met_tombstone")
    out.bool(progress.hasMetTombstone)
    if let refusal = progress.guardRefusal {
      // For people, and for ourselves.
      out.member("guard", refusal.said.text)
      out.member("guard_said", refusal.said.stored)
      if let remedy = refusal.remedy {
        out.member("guard_hint", remedy.text)
        out.member("guard_remedy", remedy.stored)
      }
    }
    for (word, path) in editWords where progress.localEdits[keyPath: path] > 0 {
      out.key(word)
      out.number(progress.localEdits[keyPath: path])
    }
    out.key("seconds")
    out.number(progress.seconds)
    out.endObject()
    return out.text
  }

  package static func progress(_ text: String) throws(UpsurgeError) -> RunProgress {
    try progress(JSONValue(text))
  }

  package static func progress(_ json: JSONValue) throws(UpsurgeError) -> RunProgress {
    var progress = RunProgress()
    for (word, path) in ledgerWords { progress.ledger[keyPath: path] = json[word]?.unsigned ?? 0 }
    guard progress.ledger.isBalanced else { throw fault("\(progress.ledger)") }
    if case .object(let members)? = json["rejects_by_reason"] {
      for member in members {
        progress.rejectsByReason[Reject.Code(rawValue: member.name)] = member.value.unsigned
      }
    }
    if case .array(let list)? = json["warnings"] {
      for element in list {
        guard let code = element["code"]?.text, let count = element["count"]?.unsigned else {
          throw fault("a warning without code or count")
        }
        progress.warnings.add(
          WarningLog.Code(rawValue: code), column: element["column"]?.text, count: count,
          at: readPosition(element))
      }
    }
    progress.supersededCount = json["superseded"]?.unsigned ?? 0
    progress.hasMetTombstone = json["met_tombstone"] == .bool(true)
    progress.guardRefusal = wording("guard_said", or: "guard", in: json).map {
      RunProgress.GuardRefusal($0, remedy: wording("guard_remedy", or: "guard_hint", in: json))
    }
    for (word, path) in editWords { progress.localEdits[keyPath: path] = json[word]?.unsigned ?? 0 }
    switch json["seconds"] {
    case .real(let seconds): progress.seconds = seconds
    case .integer(let seconds): progress.seconds = Double(seconds)
    default: break
    }
    return progress
  }

  private static var ledgerWords: [(String, WritableKeyPath<Ledger, UInt64>)] {
    [
      ("read", \.read), ("inserted", \.inserted), ("updated", \.updated), ("unchanged", \.unchanged),
      ("stale", \.stale), ("ignored", \.ignored), ("deleted", \.deleted), ("rejected", \.rejected),
      ("quarantined", \.quarantined), ("filtered", \.filtered), ("swept", \.swept),
    ]
  }

  private static var editWords: [(String, WritableKeyPath<LocalEditCounts, UInt64>)] {
    [("edits_repaired", \.repaired), ("edits_kept", \.kept), ("edits_unswept", \.unswept)]
  }

  // MARK: - Parts

  private static func wording(_ name: String, or plain: String, in json: JSONValue) -> Wording? {
    json[name]?.text.flatMap { Wording(stored: $0) } ?? json[plain]?.text.map { Wording($0) }
  }

  private static func write(_ position: Position, to out: inout JSONText) {
    out.member("file", position.file)
    for (name, value) in [("record", position.record), ("line", position.line), ("byte", position.byte)] {
      guard let value else { continue }
      out.key(name)
      out.number(value)
    }
  }

  private static func readPosition(_ json: JSONValue) -> Position {
    Position(
      file: json["file"]?.text ?? "-", record: json["record"]?.unsigned, line: json["line"]?.unsigned,
      byte: json["byte"]?.unsigned)
  }

  /// A hash as 16 hexadecimal digits: JSON numbers of other programs have 53 bits.
  private static func hex(_ hash: UInt64) -> String {
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  private static func number(_ json: JSONValue?) -> UInt64? { json?.text.flatMap { UInt64($0, radix: 16) } }

  private static func fault(_ text: String) -> UpsurgeError {
    UpsurgeError(
      .database, "the table upsurge_runs holds what no run has written",
      snippet: String(text.prefix(120)).escapedForTerminal)
  }
}

extension JSONValue {
  /// A count or an offset; nil for anything else, or for one so large that sums of it could overflow.
  fileprivate var unsigned: UInt64? {
    if case .integer(let number) = self, (0...1 << 48).contains(number) { return UInt64(number) }
    return nil
  }

  fileprivate var signed: Int64? {
    if case .integer(let number) = self { return number }
    return nil
  }
}
