import UpsurgeRecords

/// A file format that is not read here but easily recognised, with the way around.
struct ForeignFormat: Sendable {
  /// What it is, with its article where it needs one.
  var what: String
  /// The command that turns it into text, to be followed by the file's name.
  var command: String?
  /// What to do where a command alone is not enough.
  var advice: String?
  /// Whether it holds files, which are read where it is a file itself.
  var isArchive = false
  /// Whether the command takes the path of a file, and no stream.
  var needsFile = false

  /// A stream that is read, but not inside another one.
  static func compressedTwice(_ prefix: [UInt8]) -> ForeignFormat? {
    let found = Compression.detect(prefix)
    return found == .none ? nil : ForeignFormat(what: found.rawValue, command: "\(found.program) -dc")
  }

  /// What the first bytes of a stream say; nil for everything else, text above all.
  static func detect(_ prefix: [UInt8]) -> ForeignFormat? {
    compressed(prefix) ?? archive(prefix) ?? table(prefix) ?? picture(prefix)
  }

  func error(_ name: String) -> UpsurgeError {
    if isArchive, Source(name).filePath == nil {
      return UpsurgeError(
        .badInput, "\(SourceName.shown(name)) is \(what), and archives are read from files only",
        position: Position(file: name, byte: 0), hint: "save it to a file first, and load that file")
    }
    // No other program finds a member of an archive by its path.
    if isArchive || command != nil, let path = Source(name).filePath, let place = ArchivePath(path) {
      let member = place.member.split(separator: "/").last.map(String.init) ?? place.member
      let file = (member.hasPrefix("-") ? "./" + member : member).quotedForShell
      return UpsurgeError(
        .badInput, "\(SourceName.shown(name)) is \(what), which is not read inside an archive",
        position: Position(file: name, byte: 0),
        hint: "unpack \(place.archive.escapedForTerminal), and load \(file)")
    }
    var parts = [command.map { SourceName.piped($0, name) }, advice]
    if needsFile, SourceName.asShellArgument(name).isEmpty, let command {
      parts[0] = "save it to a file first; then: \(command) FILE | upsurge load DB TABLE -"
    }
    return UpsurgeError(
      .badInput, "\(SourceName.shown(name)) is \(what), which is not read here",
      position: Position(file: name, byte: 0), hint: parts.compactMap { $0 }.joined(separator: "; "))
  }

  /// The error for what came out of a decompressor: a compressed archive, or a file that was compressed twice.
  func error(_ name: String, inside compression: Compression) -> UpsurgeError {
    let unpack = "\(compression.program) -dc\(SourceName.asShellArgument(name)) > unpacked"
    let parts = [command.map { "\(unpack); " + SourceName.piped($0, "unpacked") }, advice]
    return UpsurgeError(
      .badInput,
      "\(SourceName.shown(name)) holds \(what) inside its \(compression.rawValue) stream, which is not read here",
      position: Position(file: name, byte: 0), hint: parts.compactMap { $0 }.joined(separator: "; "))
  }

  private static func compressed(_ prefix: [UInt8]) -> ForeignFormat? {
    if has(prefix, "LZIP\u{1}") { return ForeignFormat(what: "lzip", command: "lzip -dc") }
    // Each release of zstd before 1.0 had a magic number of its own.
    if has(prefix, [0xB5, 0x2F, 0xFD], at: 1), prefix[0] == 0x1E || (0x22...0x27).contains(prefix[0]) {
      return ForeignFormat(what: "zstd of a format before 1.0", command: "zstd -dc")
    }
    return nil
  }

  static let workbook = ForeignFormat(
    what: "an Excel workbook", advice: "save the sheet as CSV and load that", isArchive: true)

  /// Whether a zip archive begins as Excel writes it.
  static func isWorkbook(_ prefix: [UInt8]) -> Bool {
    has(prefix, [0x50, 0x4B, 0x03, 0x04]) && has(prefix, "[Content_Types].xml", at: 30)
  }

  private static func archive(_ prefix: [UInt8]) -> ForeignFormat? {
    if has(prefix, [0x50, 0x4B, 0x03, 0x04]) || has(prefix, [0x50, 0x4B, 0x05, 0x06]) {
      if isWorkbook(prefix) { return workbook }
      return ForeignFormat(
        what: "a zip archive", command: "unzip -p",
        advice: "an Excel workbook (.xlsx) is one too: save the sheet as CSV", isArchive: true)
    }
    if has(prefix, [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C]) {
      return ForeignFormat(what: "a 7z archive", command: "7z x -so")
    }
    if has(prefix, "ustar", at: 257) {
      return ForeignFormat(
        what: "a tar archive", command: "tar -xO -f", advice: "name the member if it holds several",
        isArchive: true)
    }
    return nil
  }

  private static func picture(_ prefix: [UInt8]) -> ForeignFormat? {
    let advice = "get the data that it shows as a text file"
    if has(prefix, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      return ForeignFormat(what: "a PNG image", advice: advice)
    }
    if has(prefix, [0xFF, 0xD8, 0xFF]) { return ForeignFormat(what: "a JPEG image", advice: advice) }
    if has(prefix, "GIF87a") || has(prefix, "GIF89a") {
      return ForeignFormat(what: "a GIF image", advice: advice)
    }
    if has(prefix, "%PDF-") {
      return ForeignFormat(
        what: "a PDF document", advice: "extract its tables into CSV, with tabula or pdftotext -layout")
    }
    if has(prefix, "{\\rtf1") { return ForeignFormat(what: "an RTF document", advice: "save it as text") }
    return nil
  }

  static func has(_ prefix: [UInt8], _ text: StaticString, at offset: Int = 0) -> Bool {
    text.withUTF8Buffer { prefix.dropFirst(offset).starts(with: $0) }
  }

  static func has(_ prefix: [UInt8], _ magic: [UInt8], at offset: Int = 0) -> Bool {
    prefix.dropFirst(offset).starts(with: magic)
  }
}
