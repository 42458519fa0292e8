import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The sources that the arguments of a command stand for.
package enum SourceList {
  /// Replaces each glob by the files it matches, sorted by name; everything else stays as and where it is.
  ///
  /// A file whose literal name looks like a glob (`[1].csv`) is that file. `-`, `/dev/stdin`, `http://…`, `https://…` and
  /// `exec:…` are passed on.
  /// - Throws: `unreadableInput` for a missing file, a directory, a glob without a match or a URL that is not fetched;
  ///   `usage` when standard input is named twice, and for what is not a command.
  package static func expand(_ sources: [Source]) throws(UpsurgeError) -> [Source] {
    var expanded: [Source] = []
    for source in sources {
      if let path = source.filePath {
        expanded += try files(of: source, path: path)
        continue
      }
      if source.isStandardInput, expanded.contains(where: \.isStandardInput) {
        throw UpsurgeError(
          .usage, "standard input is named twice, but can be read only once", hint: "name - once")
      }
      try source.checkFeed()
      expanded.append(source)
    }
    return expanded
  }

  /// The file itself, or those that its path matches as a glob.
  private static func files(of source: Source, path: String) throws(UpsurgeError) -> [Source] {
    if let info = stat(path: path) {
      if info.isDirectory { throw .isDirectory(path) }
      return [source]
    }
    let code = errno
    if let error = source.unknownScheme { throw error }
    guard code == ENOENT && hasGlobCharacters(path) else { throw .cannotOpen(path, code) }
    return try matches(of: path).map { (match) throws(UpsurgeError) in
      if let info = stat(path: match), info.isDirectory { throw .isDirectory(match) }
      return Source(file: match)
    }
  }

  private static func hasGlobCharacters(_ name: String) -> Bool {
    name.utf8.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "[") }
  }

  private static func matches(of pattern: String) throws(UpsurgeError) -> [String] {
    var found = glob_t()
    defer { globfree(&found) }
    let status = glob(pattern, 0, nil, &found)
    if status == GLOB_NOMATCH { throw .noMatch(pattern) }
    if status != 0 {
      throw UpsurgeError(
        .unreadableInput, "cannot search for files that match \(SourceName.shown(pattern))",
        hint: "let the shell expand it: leave the quotes off", underlyingCode: status)
    }
    var names: [String] = []
    for index in 0..<Int(found.gl_pathc) {
      if let path = found.gl_pathv[index] { names.append(String(cString: path)) }
    }
    // By bytes, so that the order of a load does not depend on the locale.
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}
