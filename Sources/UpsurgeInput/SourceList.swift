import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What an archive that is a source stands for.
package struct UnpackedArchive: Sendable {
  package let kind: ArchiveKind
  /// The files in it, in the order of the archive.
  package let members: [Source]
  /// Names of links, devices and pipes in it, which are not read.
  package let leftOut: [String]
  /// What is to be said where it is a workbook, of which one sheet is read.
  package var workbookRemark: Wording?
  /// Whether it has others, and nobody has named the one that is read.
  package var hasOtherSheets = false
}

/// The sources that the arguments of a command stand for.
package enum SourceList {
  /// Replaces each glob by the files it matches, sorted by name; everything else stays as and where it is.
  ///
  /// A file whose literal name looks like a glob (`[1].csv`) is that file. `-`, `/dev/stdin`, `http://…`, `https://…` and
  /// `exec:…` are passed on. A path that goes on after an archive (`feed.zip/*.csv`) stands for members, in the archive's order.
  /// - Parameter cancellation: ends the reading of archives.
  /// - Throws: `unreadableInput` for a missing file, a directory, a glob without a match or a URL that is not fetched.
  ///   `usage` when standard input is named twice, and for what is not a command. `badInput` for an archive that is not whole.
  package static func expand(
    _ sources: [Source], archives: OpenArchives? = nil, cancellation: ReadCancellation? = nil
  ) throws(UpsurgeError) -> [Source] {
    let reading = Reading(archives: archives ?? OpenArchives(), cancellation: cancellation)
    var expanded: [Source] = []
    for source in sources {
      if let path = source.filePath {
        expanded += try files(of: source, path: path, reading)
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

  /// The members of an archive that is a source by itself; nil for any other source.
  /// - Parameter question: which folders its file may have been found in.
  /// - Throws: `badInput` for an archive that is not whole, or holds no file that is read.
  package static func unpack(
    _ source: Source, asking question: HTTPQuestion, archives: OpenArchives, cancellation: ReadCancellation?
  ) throws(UpsurgeError) -> UnpackedArchive? {
    guard let path = source.filePath else { return nil }
    let followsLinks = !question.hasFound(path)
    guard ArchiveKind.of(path, followsLinks: followsLinks) != nil else { return nil }
    let book = try Workbook(path, followsLinks: followsLinks, archives: archives, cancellation: cancellation)
    if let book { return try UnpackedArchive(book) }
    guard
      let listing = try ArchiveListing.of(
        path, followsLinks: followsLinks, within: archives, cancellation: cancellation)
    else { return nil }
    return UnpackedArchive(
      kind: listing.kind,
      members: try listing.files(of: path).map {
        Source(file: ArchivePath(archive: path, member: $0.label).text)
      },
      leftOut: listing.leftOut)
  }

  /// How archives are read.
  private struct Reading {
    let archives: OpenArchives
    let cancellation: ReadCancellation?
  }

  /// The file itself, or those that its path matches as a glob.
  private static func files(of source: Source, path: String, _ reading: Reading) throws(UpsurgeError)
    -> [Source]
  {
    if let info = stat(path: path) {
      if info.isDirectory { throw .isDirectory(path) }
      return [source]
    }
    let code = errno
    if let error = source.unknownScheme { throw error }
    if code == ENOTDIR, let place = ArchivePath(path) { return try members(of: place, reading) }
    guard code == ENOENT && hasGlobCharacters(path) else { throw .cannotOpen(path, code) }
    let found = try matches(of: path)
    if found.isEmpty { return try members(ofAll: path, reading) }
    return try found.map { (match) throws(UpsurgeError) in
      if let info = stat(path: match), info.isDirectory { throw .isDirectory(match) }
      return Source(file: match)
    }
  }

  private static func members(of place: ArchivePath, _ reading: Reading) throws(UpsurgeError) -> [Source] {
    let listing = try ArchiveListing.of(
      place.archive, within: reading.archives, cancellation: reading.cancellation)
    guard let listing else { throw .noArchive(place) }
    let book = try Workbook(
      place.archive, followsLinks: true, archives: reading.archives, cancellation: reading.cancellation)
    if let book { return try book.sources(place.member) }
    return try listing.members(matching: place).map {
      Source(file: ArchivePath(archive: place.archive, member: $0.label).text)
    }
  }

  /// Members of all archives that the first part of a pattern matches: `feeds/*.zip/stops.txt`.
  private static func members(ofAll pattern: String, _ reading: Reading) throws(UpsurgeError) -> [Source] {
    var end = pattern.endIndex
    while let slash = pattern[..<end].lastIndex(of: "/"), slash > pattern.startIndex {
      end = slash
      let start = String(pattern[..<slash])
      guard hasGlobCharacters(start) else { break }
      let archives = try matches(of: start).filter { stat(path: $0)?.isRegular == true }
      if archives.isEmpty { continue }
      let member = String(pattern[pattern.index(after: slash)...])
      var found: [Source] = []
      for archive in archives {
        found += try members(of: ArchivePath(archive: archive, member: member), reading)
      }
      return found
    }
    throw .noMatch(pattern)
  }

  private static func hasGlobCharacters(_ name: String) -> Bool {
    name.utf8.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "[") }
  }

  /// None where nothing matches.
  private static func matches(of pattern: String) throws(UpsurgeError) -> [String] {
    var found = glob_t()
    defer { globfree(&found) }
    let status = glob(pattern, 0, nil, &found)
    if status == GLOB_NOMATCH { return [] }
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

extension UnpackedArchive {
  /// A workbook, of which one sheet is read.
  fileprivate init(_ book: Workbook) throws(UpsurgeError) {
    let sheet = try book.sheet(book.archives.sheet)
    self.init(kind: .zip, members: [book.source(sheet)], leftOut: [])
    if book.archives.sheet == nil, let (count, another) = try book.others(than: sheet) {
      workbookRemark =
        "\(SourceName.shown(book.path)): of \(count) sheets the first is read, \(sheet.name.escapedForTerminal); "
        + "\(.sheet, another.escapedForTerminal.quotedForShell) reads another"
      hasOtherSheets = true
    } else {
      workbookRemark =
        "\(SourceName.shown(book.path)): \(book.kind.rawValue) · sheet \(sheet.name.escapedForTerminal)"
    }
  }
}

extension Workbook {
  /// The sheets that a path within the workbook names: one by its name or number, or those that match a pattern.
  fileprivate func sources(_ member: String) throws(UpsurgeError) -> [Source] {
    if member.contains(where: { "*?[".contains($0) }) {
      let matching = try sheets(matching: member)
      if !matching.isEmpty { return matching.map(source) }
    }
    return [source(try sheet(member.isEmpty ? archives.sheet : member))]
  }
}

/// What a source is where an option names the sheet of a workbook.
package enum SheetNaming: Sendable {
  /// A workbook, or that sheet of it.
  case workbook
  /// Another sheet of it.
  case otherSheet
  case other
}

extension Source {
  /// - Parameters:
  ///   - archives: name the sheet.
  ///   - question: which folders its file may have been found in.
  /// - Throws: `unreadableInput` where the workbook has no such sheet; `badInput` for one that is not whole.
  package func sheetNaming(_ archives: OpenArchives, asking question: HTTPQuestion) throws(UpsurgeError)
    -> SheetNaming
  {
    guard let path = filePath else { return .other }
    let place = ArchivePath(path)
    let file = place?.archive ?? path
    let followsLinks = !question.hasFound(file)
    guard ArchiveKind.of(file, followsLinks: followsLinks) == .zip,
      let book = try Workbook(file, followsLinks: followsLinks, archives: archives, cancellation: nil)
    else { return .other }
    guard let member = place?.member, !member.isEmpty else { return .workbook }
    return try book.sheet(member).number == book.sheet(archives.sheet).number ? .workbook : .otherSheet
  }
}
