import UpsurgeRecords

/// Files that are known, to be found by their name or by their content; of a folder they may be many thousands.
struct KnownFiles {
  private var byName: [String: [DeliveredFile]] = [:]
  private var contents: Set<Content> = []

  /// Files with the same have the same bytes.
  private struct Content: Hashable {
    var byteCount: UInt64
    var hash: UInt64

    init(_ file: DeliveredFile) { (byteCount, hash) = (file.byteCount, file.hash) }
  }

  init(_ files: [DeliveredFile] = []) { for file in files { insert(file) } }

  mutating func insert(_ file: DeliveredFile) {
    byName[file.name, default: []].append(file)
    contents.insert(Content(file))
  }

  /// The files of one name, which is the path from the root without links.
  func named(_ name: String) -> [DeliveredFile] { byName[name] ?? [] }

  /// Whether one of them has the content of this one.
  func holdsContent(of file: DeliveredFile) -> Bool { contents.contains(Content(file)) }
}
