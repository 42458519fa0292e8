import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A run of a job as a scheduler starts it: with paths from the root, as it has another folder and another environment
/// than the shell in which the job was tried.
struct ScheduledRun {
  /// What the units are called: `upsurge-job` of `job.yaml`.
  var name: String
  /// The program first.
  var words: [String]
  /// Where commands (`exec:`) start.
  var folder: String
  /// The variables of the environment that the job takes secrets from.
  var variables: [String]
  var time: TimeOfDay

  /// - Parameters:
  ///   - words: those after the database and the job.
  ///   - bytes: of the job file.
  /// - Throws: `usage` for a path that no unit can hold.
  init(
    database: String, job: String, words: [String], bytes: [UInt8], time: TimeOfDay
  ) throws(UpsurgeError) {
    folder = Self.absolute("")
    let stem = job.split(separator: "/").last.map { $0.prefix { $0 != "." } } ?? ""
    let plain = stem.map { $0.isASCII && ($0.isLetter || $0.isNumber) || $0 == "_" ? $0 : "-" }
    name = "upsurge-" + (plain.isEmpty ? "job" : String(plain))
    // A server is named by a URL, which means the same in each folder.
    let place = SourceName.isServer(database) ? database : Self.absolute(database)
    self.words = [Self.program, "mirror", place, Self.absolute(job)] + words
    variables = Self.variables(in: bytes)
    self.time = time
    for word in self.words + [folder] where word.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
      throw UpsurgeError(
        .usage, "\(word.escapedForTerminal) holds a control character, which no unit or crontab can hold",
        hint: "rename it")
    }
  }

  /// Where the secrets of the environment lie.
  var environmentFile: String { "/etc/upsurge/\(name).env" }

  /// A path from the root; links stay, as they may lead elsewhere tomorrow.
  static func absolute(_ path: String) -> String {
    if path.hasPrefix("/") { return path }
    var folder = "/"
    if let current = getcwd(nil, 0) {
      defer { free(current) }
      folder = String(cString: current)
    }
    var rest = path[...]
    while rest.hasPrefix("./") { rest = rest.dropFirst(2).drop { $0 == "/" } }
    if rest.isEmpty || rest == "." { return folder }
    return folder.hasSuffix("/") ? folder + rest : "\(folder)/\(rest)"
  }

  /// This program as it was called, found in `PATH` where it was called by its name.
  private static var program: String {
    let word = CommandLine.arguments.first ?? "upsurge"
    if word.contains("/") { return absolute(word) }
    let folders = getenv("PATH").map { String(cString: $0) } ?? ""
    for folder in folders.split(separator: ":") where access("\(folder)/\(word)", X_OK) == 0 {
      return absolute("\(folder)/\(word)")
    }
    guard let path = realpath("/proc/self/exe", nil) else { return word }
    defer { free(path) }
    return String(cString: path)
  }

  /// The names in `${env:NAME}`, each once, in the order of the file.
  static func variables(in bytes: [UInt8]) -> [String] {
    var names: [String] = []
    var rest = String(decoding: bytes, as: UTF8.self)[...]
    while let start = rest.firstRange(of: "${env:") {
      let isText = rest[..<start.lowerBound].hasSuffix("$")
      let name = String(rest[start.upperBound...].prefix { $0 != "}" && !$0.isNewline })
      if !isText, !name.isEmpty, !names.contains(name) { names.append(name) }
      rest = rest[start.upperBound...]
    }
    return names
  }
}
