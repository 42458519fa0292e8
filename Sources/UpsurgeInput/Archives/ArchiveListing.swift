import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What an archive holds, in its own order.
///
/// The names come from outside. Each is made a part of a path that means nothing else, and none is ever opened.
package struct ArchiveListing: Sendable {
  package struct Member: Sendable {
    /// The name as a part of a path.
    package var label: String
    /// As it is stored.
    var name: [UInt8]
    /// Among all entries of the archive.
    var index: Int
    var kind: ArchiveEntry.Kind
    var isEncrypted: Bool
    /// nil where the archive does not say it.
    package var byteCount: UInt64?
    /// Seconds since 1970.
    var time: Int64

    /// Whether it is hidden, in a hidden folder, or what macOS puts beside each file.
    var isHidden: Bool { label.split(separator: "/").contains { $0.hasPrefix(".") || $0 == "__MACOSX" } }
  }

  package let kind: ArchiveKind
  /// What the archive holds, without its folders.
  package private(set) var members: [Member] = []
  private var folders: Set<String> = []
  /// Indices of the members that are called so; of an archive with many, each is looked up.
  private var places: [String: [Int]] = [:]

  private static let memberLimit = 100_000
  private static let nameByteLimit = 8 << 20

  /// Reads all headers; of a compressed archive that is all of it.
  fileprivate init(_ file: ArchiveFile, _ kind: ArchiveKind, within bounds: OpenArchives) throws(UpsurgeError)
  {
    self.kind = kind
    let reader = try ArchiveReader(file, kind, within: bounds)
    var nameByteCount = 0
    while let entry = try reader.next() {
      let label = Self.label(entry.name)
      nameByteCount += label.utf8.count
      if reader.nextIndex > Self.memberLimit || nameByteCount > Self.nameByteLimit {
        throw UpsurgeError(
          .badInput,
          "\(SourceName.shown(file.name)) holds more than \(Self.memberLimit) files, or very long names",
          position: Position(file: file.name),
          hint: "unpack it, and load the files: a folder or a glob takes any number of them")
      }
      if entry.kind == .folder {
        folders.insert(label)
        continue
      }
      places[label, default: []].append(members.count)
      members.append(
        Member(
          label: label, name: entry.name, index: reader.nextIndex - 1, kind: entry.kind,
          isEncrypted: entry.isEncrypted,
          byteCount: entry.byteCount, time: entry.time))
    }
  }

  /// The last ones that were read, so that the steps of a run do not read them again.
  private static let known = Guarded<[(stamp: ArchiveFile.Stamp, listing: ArchiveListing)]>([])
  private static let knownCount = 8

  /// What an archive that was listed holds; nil where that is not known, or no longer.
  static func known(of path: String) -> ArchiveListing? {
    guard let stamp = ArchiveFile.Stamp(path: path) else { return nil }
    return known.withLock { $0.first { $0.stamp == stamp }?.listing }
  }

  /// What an archive holds; nil for another file.
  /// - Parameter followsLinks: false for a file that was found in a folder.
  /// - Throws: `unreadableInput`; `badInput` for an archive that is not whole; `interrupted`.
  package static func of(
    _ path: String, followsLinks: Bool = true, within bounds: OpenArchives, cancellation: ReadCancellation?
  ) throws(UpsurgeError) -> ArchiveListing? {
    let file = try ArchiveFile(path, followsLinks: followsLinks, cancellation: cancellation)
    if let found = known.withLock({ $0.first { $0.stamp == file.stamp }?.listing }) { return found }
    guard let kind = try ArchiveKind.of(file) else { return nil }
    let listing = try ArchiveListing(file, kind, within: bounds)
    // What changes meanwhile may be neither the one nor the other.
    if !file.hasChanged {
      known.withLock { known in
        known.insert((file.stamp, listing), at: 0)
        if known.count > knownCount { known.removeLast() }
      }
    }
    return listing
  }

  /// The name of a member as a part of a path: what could lead elsewhere, and what is no UTF-8, is written as `%2E%2E`, `%2F`, `%FF`.
  static func label(_ name: [UInt8]) -> String {
    var rest = name[...]
    while rest.starts(with: Array("./".utf8)) { rest = rest.dropFirst(2) }
    while rest.last == UInt8(ascii: "/") { rest.removeLast() }
    let text = rest.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { part in
      switch Array(part) {
      case Array("..".utf8): "%2E%2E"
      case Array(".".utf8): "%2E"
      default: String(validating: part, as: UTF8.self) ?? part.map(escaped).joined()
      }
    }
    var label = ""
    for (index, part) in text.enumerated() {
      if index > 0 { label += label.isEmpty || part.isEmpty || text[index - 1].isEmpty ? "%2F" : "/" }
      label += part
    }
    return label
  }

  private static func escaped(_ byte: UInt8) -> String {
    byte < 0x80 ? String(UnicodeScalar(byte)) : "%" + hexText([byte])
  }
}

extension ArchiveListing {
  /// Links, devices and pipes, which are left out where nobody names them.
  package var leftOut: [String] { members.filter { $0.kind != .file && !$0.isHidden }.map(\.label) }

  /// The members that a name or a pattern stands for, in the archive's order.
  /// - Throws: `unreadableInput` where no member matches; `badInput` for what is not read.
  func members(matching path: ArchivePath) throws(UpsurgeError) -> [Member] {
    let named = self.named(path.member)
    if !named.isEmpty { return try checked(named, of: path) }
    if path.member.isEmpty { return try files(of: path.archive) }
    let matching = members.filter {
      $0.kind == .file && fnmatch(path.member, $0.label, FNM_PATHNAME | FNM_PERIOD) == 0
    }
    if matching.isEmpty { throw missing(path) }
    return try checked(matching, of: path)
  }

  /// Whether a member is called so.
  func has(_ label: String) -> Bool { places[label] != nil }

  /// The members with a name, as it is shown or stored.
  func named(_ name: String) -> [Member] {
    if let found = places[name] { return found.map { members[$0] } }
    let bytes = Array(name.utf8)
    return members.filter { $0.name == bytes }
  }

  /// All files that are not hidden.
  /// - Throws: `badInput` where no file is left, and for what is not read.
  func files(of archive: String) throws(UpsurgeError) -> [Member] {
    let path = ArchivePath(archive: archive, member: "")
    let files = members.filter { $0.kind == .file && !$0.isHidden }
    if files.isEmpty {
      throw UpsurgeError(
        .badInput, "\(SourceName.shown(archive)) is a \(kind.name) archive that holds no file",
        position: Position(file: archive),
        hint: members.isEmpty
          ? "get it again" : "name a member, such as \(example(archive)): links and hidden files are left out"
      )
    }
    return try checked(files, of: path)
  }

  /// - Throws: `badInput` for links, encrypted members, and names that come twice.
  private func checked(_ members: [Member], of path: ArchivePath) throws(UpsurgeError) -> [Member] {
    var labels: Set<String> = []
    for member in members {
      let name = ArchivePath(archive: path.archive, member: member.label).text
      if !labels.insert(member.label).inserted { throw twice(name, path.archive) }
      if member.isEncrypted {
        throw UpsurgeError(
          .badInput, "\(SourceName.shown(name)) is encrypted, and encrypted members are not read",
          position: Position(file: name), hint: "unpack the archive with its password, and load the files")
      }
      if member.kind != .file {
        let what =
          member.kind == .link ? "a link, and links in an archive are not followed" : "no regular file"
        throw UpsurgeError(
          .badInput, "\(SourceName.shown(name)) is \(what)", position: Position(file: name),
          hint: "name the member that it stands for, or unpack the archive and load the file")
      }
    }
    return members
  }

  private func twice(_ name: String, _ archive: String) -> UpsurgeError {
    UpsurgeError(
      .badInput,
      "\(SourceName.shown(name)) comes twice in the archive, so it is not clear which of the two is meant",
      position: Position(file: name),
      hint: "unpack the archive and load the file: most programs let the last one win")
  }

  private func missing(_ path: ArchivePath) -> UpsurgeError {
    let isFolder =
      folders.contains(path.member.withoutSlashes)
      || members.contains { $0.label.hasPrefix(path.member.withoutSlashes + "/") }
    if isFolder {
      return UpsurgeError(
        .unreadableInput, "\(SourceName.shown(path.text)) is a folder in the archive",
        hint:
          "name its files: \(path.archive.escapedForTerminal)/\(path.member.withoutSlashes.escapedForTerminal)/*.csv"
      )
    }
    return UpsurgeError(
      .unreadableInput, "\(SourceName.shown(path.archive)) holds no file \(path.member.escapedForTerminal)",
      hint: members.isEmpty ? "it holds no file at all" : "it holds: \(list)")
  }

  /// The first members, for a message.
  private var list: String {
    let shown = members.prefix(8).map(\.label.escapedForTerminal).joined(separator: ", ")
    return members.count > 8 ? "\(shown) and \(members.count - 8) more" : shown
  }

  private func example(_ archive: String) -> String {
    ArchivePath(archive: archive, member: members.first?.label ?? "").text.escapedForTerminal
  }
}

extension String {
  fileprivate var withoutSlashes: String {
    var text = self
    while text.hasSuffix("/") { text.removeLast() }
    return text
  }
}
