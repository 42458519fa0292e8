import Upsurge

/// Where the paths of a job file start: at its folder, wherever the job is run.
struct JobPaths {
  /// The options that are paths, beside sources and the folder of files that are done.
  static let options: Set = ["rejects", "init", "blob-folder"]

  /// With a slash at its end; empty for the working folder.
  let folder: String

  init(file: String) {
    if Source(file).isStandardInput {
      folder = ""
    } else {
      let cut = file.utf8.lastIndex(of: UInt8(ascii: "/"))
      folder = cut.map { String(file[...$0]) } ?? ""
    }
  }

  func resolve(_ path: String) -> String { path.hasPrefix("/") ? path : folder + path }

  func resolve(_ source: Source) -> Source { source.starting(in: folder) }
}

extension Source {
  /// The scheme of what looks like a URL, and is not one that is read.
  var foreignScheme: String? {
    guard let path = filePath, let cut = path.firstIndex(of: ":"), cut != path.startIndex,
      path[cut...].hasPrefix("://")
    else { return nil }
    let scheme = path[..<cut]
    return scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } ? String(scheme) : nil
  }
}

/// What is wrong with a source by its text alone.
struct SourceFault {
  var message: String
  var hint: String?

  /// nil where there is nothing to find fault with. Of a text into which a secret was put, nothing is said.
  static func of(_ source: Source) -> SourceFault? {
    switch source.opening {
    case .file(let path):
      if path.isEmpty { return SourceFault(message: "is empty", hint: "name a file") }
      guard let scheme = source.foreignScheme else { return nil }
      return SourceFault(
        message: (source.isReworded ? "its scheme" : "\(scheme)://")
          + " is not read; known: paths, globs, folders, http://, https://, exec:, sqlite:, postgres://",
        hint: scheme.lowercased() == "file" ? "give the path" : "exec:COMMAND reads what a command writes")
    case .command(let command):
      if !command.allSatisfy(\.isWhitespace) { return nil }
      return SourceFault(message: "exec: has no command", hint: "write exec:COMMAND")
    case .database(_, let rows):
      if rows != nil { return nil }
      return SourceFault(
        message: "sqlite: takes a path and a table or query",
        hint: "write sqlite:PATH#TABLE, or 'sqlite:PATH?query=SELECT …'")
    case .server(let text, let rows):
      if rows != nil { return nil }
      let scheme = text.prefix { $0 != ":" }
      return SourceFault(
        message: "\(scheme):// takes a database and a table or query",
        hint: "write postgres://HOST/DATABASE#TABLE, or 'postgres://HOST/DATABASE?query=SELECT …'")
    case .url(let url):
      let host = url.drop { $0 != ":" }.dropFirst(3).prefix { !"/?#".contains($0) }
      if !host.isEmpty && !url.contains(where: \.isWhitespace) { return nil }
      return SourceFault(message: "the URL has no host, or a blank in it", hint: "write %20 for a blank")
    case .standardInput, .program: return nil
    }
  }
}
