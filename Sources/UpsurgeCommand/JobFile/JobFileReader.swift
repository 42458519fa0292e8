import Upsurge
import UpsurgeMirror

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reads the job file of `upsurge mirror`: YAML, of which JSON is a part.
///
/// What a table may say are the options of the command line under their own names, and a few keys of mirrors; every
/// error names the file, the line, the column, the key, and what is right.
struct JobFileReader {
  /// The path as it was given.
  let file: String
  let paths: JobPaths
  let secrets: JobSecrets
  let parsed = ParsedGroups()

  /// Larger files are no jobs.
  static let byteLimit = 1 << 20
  private static let tableLimit = 1_000
  private static let defaultsLimit = 64 << 10

  /// - Parameter environment: looks up a variable of the environment.
  init(
    file: String,
    environment: @escaping (String) -> String? = { name in getenv(name).map { String(cString: $0) } }
  ) {
    self.file = file
    paths = JobPaths(file: file)
    secrets = JobSecrets(paths: paths, environment: environment)
  }

  /// Reads a job file.
  /// - Throws: `unreadableInput` when it is not there, `usage` with the place of what is wrong in it.
  static func read(_ path: String, database: String) throws(UpsurgeError) -> JobFile {
    guard let bytes = try SmallFile.read(path, limit: byteLimit) else {
      throw UpsurgeError(
        .usage, "\(SourceName.shown(path)) is larger than 1 MiB, which no job file is",
        hint: "give a job file")
    }
    return try JobFileReader(file: path).read(bytes, database: database)
  }

  /// Reads the bytes of a job file.
  /// - Throws: `usage` with the place of what is wrong.
  func read(_ bytes: [UInt8], database: String) throws(UpsurgeError) -> JobFile {
    let start = JobPlace(file: file, line: 1, column: 1)
    if bytes.count > Self.byteLimit { throw start.error("", "larger than 1 MiB, which no job file is") }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw notText(bytes) }
    guard let root = try JobYAML.read(text, file: file) else {
      throw start.error(
        "", "there is nothing in the job file", hint: "upsurge mirror init DB SOURCE writes one")
    }
    guard case .mapping(let entries) = root.content else {
      throw root.place.error("", "the file is \(root.kind); it takes the keys \(Self.topKeys)")
    }
    var known = Set(["defaults", "atomic", "deadline", "tables"])
    var job = MirrorJob(database: database, tables: [])
    job.file = file
    var defaults = JobSettings()
    var tables: JobNode?
    for entry in entries {
      guard known.remove(entry.key) != nil else { throw unknownTopKey(entry) }
      switch entry.key {
      case "atomic": job.atomicity = try atomicity(entry.value)
      case "deadline": job.deadline = try deadline(entry.value)
      case "defaults": defaults = try readDefaults(entry.value)
      default: tables = entry.value
      }
    }
    guard let tables else {
      throw root.place.error("", "there is no key tables", hint: "add tables: with a key for each table")
    }
    var read = JobFile(job: job, words: [:])
    try readTables(tables, defaults: defaults, into: &read)
    return read
  }

  private static let topKeys = "defaults, atomic, deadline and tables"

  private func notText(_ bytes: [UInt8]) -> UpsurgeError {
    var place = JobPlace(file: file, line: 1, column: 1)
    var (decoder, rest) = (UTF8(), bytes.makeIterator())
    while case .scalarValue(let scalar) = decoder.decode(&rest) {
      place.column += 1
      if scalar == "\n" { (place.line, place.column) = (place.line + 1, 1) }
    }
    return place.error("", "the job file is not UTF-8", hint: "save it as UTF-8")
  }

  private func unknownTopKey(_ entry: JobNode.Entry) -> UpsurgeError {
    if entry.key == "database" {
      return entry.keyPlace.error(
        "", "the key database is not taken: \(RefusedKey.reason("database") ?? "")", hint: "remove it")
    }
    let isOfTables =
      OptionCatalogue.byKey(group: nil)[entry.key] != nil || JobSettings.ownKeys.contains(entry.key)
    if isOfTables {
      return entry.keyPlace.error(
        "", "the key \(entry.key) is of a table", hint: "put it under tables.NAME, or under defaults")
    }
    let nearest = NearestWord.find(entry.key, in: ["defaults", "atomic", "deadline", "tables"])
    return entry.keyPlace.error(
      "", "the key \(entry.key) is not known; known: \(Self.topKeys)",
      hint: nearest.map { "did you mean \($0)?" })
  }

  private func atomicity(_ node: JobNode) throws(UpsurgeError) -> MirrorJob.Atomicity {
    let words = MirrorJob.Atomicity.allCases.map(\.rawValue)
    let known = "known: " + words.joined(separator: ", ")
    guard case .text(let text) = node.content else {
      throw node.place.error("atomic", "is \(node.kind); \(known)")
    }
    guard let atomicity = MirrorJob.Atomicity(rawValue: text) else {
      throw node.place.error(
        "atomic", "\(text) is not known; \(known)",
        hint: NearestWord.find(text, in: words).map { "did you mean \($0)?" })
    }
    return atomicity
  }

  private func deadline(_ node: JobNode) throws(UpsurgeError) -> Double {
    let hint = "write a time such as 30m or 2h"
    guard case .text(let text) = node.content else {
      throw node.place.error("deadline", "is \(node.kind); it takes a time", hint: hint)
    }
    guard let length = TimeLength(argument: text) else {
      throw node.place.error("deadline", "\(text) is no time", hint: hint)
    }
    return length.seconds
  }

  private func readDefaults(_ node: JobNode) throws(UpsurgeError) -> JobSettings {
    if case .nothing = node.content { return JobSettings() }
    if node.byteCount > Self.defaultsLimit {
      throw node.place.error("defaults", "larger than 64 KiB, and each table would hold all of it")
    }
    let defaults = try JobSettings(node, path: "defaults", isDefault: true)
    try JobTableReader(reader: self, settings: defaults, node: node).checkDefaults()
    return defaults
  }

  private func readTables(
    _ node: JobNode, defaults: JobSettings, into read: inout JobFile
  ) throws(UpsurgeError) {
    guard case .mapping(let entries) = node.content else {
      throw node.place.error("tables", "is \(node.kind); it takes a key for each table: NAME: {source: FILE}")
    }
    if entries.isEmpty { throw node.place.error("tables", "names no table") }
    if entries.count > Self.tableLimit {
      throw entries[Self.tableLimit].keyPlace.error(
        "tables", "more than 1,000 tables", hint: "make it several jobs")
    }
    var checks = JobChecks()
    for entry in entries {
      let path = "tables.\(entry.key)"
      try checks.checkName(entry)
      let own = try JobSettings(entry.value, path: path, isDefault: false)
      let table = JobTableReader(reader: self, settings: own.merging(defaults), node: entry.value, path: path)
      let (result, words) = try table.read(name: entry.key, keyPlace: entry.keyPlace)
      try checks.check(result, settings: table.settings)
      read.job.tables.append(result)
      read.words[entry.key] = words
    }
    try checks.finish(defaults: defaults)
  }
}

/// A job as its file says it.
struct JobFile {
  var job: MirrorJob
  /// What the file says of each table beyond its feed, as words of the command line.
  var words: [String: [String]]
}
