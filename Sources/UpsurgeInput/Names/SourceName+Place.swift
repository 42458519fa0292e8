#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension SourceName {
  /// One name for a source, however it was spelled: the path from the root without links. Of a glob, and of what is
  /// not there, that of the folder with the rest behind it; `-` for standard input; a URL or command as it may be shown.
  package static func place(of name: String) -> String {
    if isStandardInput(name) { return standardInput }
    // Of a database the rows are part of the name.
    if let source = DatabaseSource(name) { return source.name(path: place(of: source.path)) }
    if isFeed(name) { return redacted(name) }
    var folder = name
    var rest = ""
    while true {
      if let path = realpath(folder.isEmpty ? "." : folder, nil) {
        defer { free(path) }
        return rest.isEmpty ? String(cString: path) : (String(cString: path) + "/" + rest).withoutDoubleRoot
      }
      guard !folder.isEmpty, folder != "/" else { return name }
      let parts = folder.split(separator: "/", omittingEmptySubsequences: false)
      let last = parts.last.map(String.init) ?? ""
      rest = rest.isEmpty ? last : (last.isEmpty ? rest : last + "/" + rest)
      folder = parts.count == 2 && parts[0].isEmpty ? "/" : parts.dropLast().joined(separator: "/")
    }
  }

  /// The folder in which a name begins, from the root; nil where it begins at the root or is no file.
  package static func folder(of name: String) -> String? {
    isStandardInput(name) || isFeed(name) || name.utf8.first == UInt8(ascii: "/") ? nil : place(of: ".")
  }

  /// One name for a source whose name begins in a folder, as `folder(of:)` told it where the name was given.
  package static func place(of name: String, in folder: String?) -> String {
    guard let folder, !isStandardInput(name), !isFeed(name), name.utf8.first != UInt8(ascii: "/") else {
      return place(of: name)
    }
    return place(of: folder + "/" + name)
  }
}

extension String {
  fileprivate var withoutDoubleRoot: String { hasPrefix("//") ? String(dropFirst()) : self }
}
