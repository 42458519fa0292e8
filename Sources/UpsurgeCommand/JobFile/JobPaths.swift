import Upsurge

/// Where the paths of a job file start: at its folder, wherever the job is run.
struct JobPaths {
  /// The options that are paths, beside sources and the folder of files that are done.
  static let options: Set = ["rejects", "init", "blob-folder"]

  /// With a slash at its end; empty for the working folder.
  let folder: String

  init(file: String) {
    if SourceName.isStandardInput(file) {
      folder = ""
    } else {
      let cut = file.utf8.lastIndex(of: UInt8(ascii: "/"))
      folder = cut.map { String(file[...$0]) } ?? ""
    }
  }

  func resolve(_ path: String) -> String { path.hasPrefix("/") ? path : folder + path }

  /// What a source is, by how it begins.
  enum SourceKind: Equatable {
    case standardInput, url, command, database, path
    /// Another scheme than those that are read.
    case unknown(String)
  }

  static func kind(of source: String) -> SourceKind {
    if SourceName.isStandardInput(source) { return .standardInput }
    if SourceName.isURL(source) { return .url }
    if SourceName.command(of: source) != nil { return .command }
    if SourceName.isDatabase(source) { return .database }
    if let cut = source.firstIndex(of: ":"), cut != source.startIndex, source[cut...].hasPrefix("://") {
      let scheme = source[..<cut]
      if scheme.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) { return .unknown(String(scheme)) }
    }
    return .path
  }

  /// The source with its path resolved, as it is used and as it is shown.
  func resolve(source: String, shown: String) -> (source: String, shown: String) {
    switch Self.kind(of: source) {
    case .path:
      return source.hasPrefix("/") ? (source, shown) : (folder + source, folder + shown)
    case .database:
      let path = source.dropFirst(7)
      if path.hasPrefix("/") { return (source, shown) }
      // What is shown begins in the same way, unless that is a secret.
      let isSame = shown.hasPrefix("sqlite:")
      return ("sqlite:\(folder)\(path)", isSame ? "sqlite:\(folder)\(shown.dropFirst(7))" : shown)
    default: return (source, shown)
    }
  }
}

/// What is wrong with a source by its text alone.
struct SourceFault {
  var message: String
  var hint: String?

  /// - Parameter isSecret: nothing of the text may be said.
  static func of(_ source: String, isSecret: Bool = false) -> SourceFault? {
    if source.isEmpty { return SourceFault(message: "is empty", hint: "name a file") }
    switch JobPaths.kind(of: source) {
    case .unknown(let scheme):
      return SourceFault(
        message: (isSecret ? "its scheme" : "\(scheme)://")
          + " is not read; known: paths, globs, folders, http://, https://, exec:, sqlite:",
        hint: scheme.lowercased() == "file" ? "give the path" : "exec:COMMAND reads what a command writes")
    case .command:
      if !source.dropFirst(5).allSatisfy(\.isWhitespace) { return nil }
      return SourceFault(message: "exec: has no command", hint: "write exec:COMMAND")
    case .database:
      if DatabaseSource(source) != nil { return nil }
      return SourceFault(
        message: "sqlite: takes a path and a table or query",
        hint: "write sqlite:PATH#TABLE, or 'sqlite:PATH?query=SELECT …'")
    case .url:
      let host = source.drop { $0 != ":" }.dropFirst(3).prefix { !"/?#".contains($0) }
      if !host.isEmpty && !source.contains(where: \.isWhitespace) { return nil }
      return SourceFault(message: "the URL has no host, or a blank in it", hint: "write %20 for a blank")
    case .path, .standardInput: return nil
    }
  }
}
