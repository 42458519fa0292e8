#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension SourceName {
  /// The place of a source that is known by its name, or by its path.
  package static func place(of name: String) -> String { Source(name).place }

  /// A path from the root without links. Of a glob, and of what is not there, that of the folder with the rest after it.
  static func path(of name: String) -> String {
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
    Source(name).filePath.flatMap { $0.utf8.first == UInt8(ascii: "/") ? nil : place(of: ".") }
  }

  /// One name for a source whose name begins in a folder, as `folder(of:)` told it where the name was given.
  package static func place(of name: String, in folder: String?) -> String {
    guard let folder, let path = Source(name).filePath, path.utf8.first != UInt8(ascii: "/") else {
      return place(of: name)
    }
    return place(of: folder + "/" + path)
  }
}

extension String {
  fileprivate var withoutDoubleRoot: String { hasPrefix("//") ? String(dropFirst()) : self }
}
