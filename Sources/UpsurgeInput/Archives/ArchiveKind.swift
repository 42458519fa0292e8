import UpsurgeRecords

/// What kind of archive a file is.
package enum ArchiveKind: Sendable, Equatable {
  case zip
  /// A tar archive, compressed or not.
  case tar(Compression)

  /// `zip`, `tar`, or `tar in zstd`.
  package var name: String {
    switch self {
    case .zip: "zip"
    case .tar(.none): "tar"
    case .tar(let compression): "tar in \(compression.rawValue)"
    }
  }

  /// The program that looks whether an archive is whole.
  var check: String { self == .zip ? "unzip -t" : "tar -tf" }

  /// What the first bytes of a file are, as it lies there or after it was decompressed; nil for what is no archive.
  /// - Parameter prefix: its first 512 bytes; fewer only where it has no more.
  static func detect(_ prefix: [UInt8]) -> ArchiveKind? {
    let starts: [[UInt8]] = [[0x50, 0x4B, 3, 4], [0x50, 0x4B, 5, 6]]
    if starts.contains(where: prefix.starts) { return .zip }
    return isTarHeader(prefix) ? .tar(.none) : nil
  }

  /// Whether they are a header of POSIX or old tar, by its mark or the sum of its bytes; also where it was cut.
  private static func isTarHeader(_ prefix: [UInt8]) -> Bool {
    if prefix.dropFirst(257).starts(with: Array("ustar".utf8)) { return true }
    guard prefix.count >= tarBlockByteCount, prefix[0] != 0 else { return false }
    let field = 148..<156
    let digits = prefix[field].drop { $0 == 0x20 }.prefix { (0x30...0x37).contains($0) }
    guard !digits.isEmpty else { return false }
    let sum = prefix.prefix(tarBlockByteCount).enumerated().reduce(0) {
      $0 + (field.contains($1.offset) ? 0x20 : Int($1.element))
    }
    return sum == digits.reduce(0) { $0 * 8 + Int($1 - 0x30) }
  }

  static let tarBlockByteCount = 512

  /// Whether it is worth a look at the end of a file: it begins as a program, or is called a zip archive.
  private static func mayUnpackItself(_ file: ArchiveFile, _ prefix: [UInt8]) -> Bool {
    let programs: [[UInt8]] = [Array("#!".utf8), Array("MZ".utf8), [0x7F] + Array("ELF".utf8)]
    return programs.contains(where: prefix.starts) || file.name.lowercased().hasSuffix(".zip")
  }

  /// What a file is; nil for what is no archive, and for what cannot be read: who opens it says why.
  /// - Parameter followsLinks: false for a file that was found in a folder.
  package static func of(_ path: String, followsLinks: Bool = true) -> ArchiveKind? {
    guard ArchiveFile.Stamp(path: path) != nil, let file = try? ArchiveFile(path, followsLinks: followsLinks)
    else { return nil }
    return try? of(file)
  }

  /// - Throws: what reading its first bytes throws.
  static func of(_ file: ArchiveFile) throws(UpsurgeError) -> ArchiveKind? {
    let prefix = try file.bytes(Compression.magicByteCount, at: 0)
    let compression = Compression.detect(prefix)
    if compression == .none {
      if let kind = detect(prefix) { return kind }
      // A zip archive may stand after a program that unpacks it.
      guard mayUnpackItself(file, prefix), let end = try ZipEnd(file), end.memberCount > 0 else { return nil }
      return .zip
    }
    file.offset = 0
    let content = try Decoder(
      compression, over: file, name: file.name, windowByteLimit: OpenArchives.windowByteLimit
    ).content
    let isTar = try detect(content.readPrefix(tarBlockByteCount).bytes) == .tar(.none)
    return isTar ? .tar(compression) : nil
  }
}

/// The end of a zip archive (APPNOTE.TXT 4.3.14 to 4.3.16), without which nobody knows what it holds.
struct ZipEnd {
  /// How many members the directory has, as far as the field can say it.
  var memberCount: UInt64

  /// The directory of an archive with more members takes too much memory.
  static let directoryByteLimit: UInt64 = 4 << 20
  /// The record, and the longest comment that can follow it.
  private static let tailByteCount = 22 + 0xFFFF

  /// nil where a file has no such end.
  /// - Throws: `badInput` for a directory that is not whole, or too large.
  init?(_ file: ArchiveFile) throws(UpsurgeError) {
    let start = file.stamp.byteCount - min(UInt64(Self.tailByteCount), file.stamp.byteCount)
    let tail = try file.bytes(Self.tailByteCount, at: start)
    guard let place = Self.place(in: tail) else { return nil }
    let record = tail[place...]
    var size = Self.number(record, 12, 4)
    memberCount = Self.number(record, 10, 2)
    let isLarge = memberCount == 0xFFFF || size == 0xFFFF_FFFF || Self.number(record, 16, 4) == 0xFFFF_FFFF
    if isLarge, place >= 20, Self.number(tail[(place - 20)...], 0, 4) == 0x0706_4B50 {
      let other = try file.bytes(56, at: Self.number(tail[(place - 20)...], 8, 8))
      guard other.count == 56, Self.number(other[...], 0, 4) == 0x0606_4B50 else { return nil }
      (memberCount, size) = (Self.number(other[...], 32, 8), Self.number(other[...], 40, 8))
    }
    if size > start + UInt64(place) { return nil }
    if size > Self.directoryByteLimit {
      throw UpsurgeError(
        .badInput,
        "\(SourceName.shown(file.name)) has a directory of \(sizeText(size)) for \(memberCount) files, and "
          + "\(sizeText(Self.directoryByteLimit)) is the limit",
        position: Position(file: file.name),
        hint: "unpack it, and load the files: a folder or a glob takes any number of them")
    }
  }

  /// Where the last record begins whose comment ends within the file.
  private static func place(in tail: [UInt8]) -> Int? {
    guard tail.count >= 22 else { return nil }
    return (0...tail.count - 22).last { place in
      tail[place] == 0x50 && number(tail[place...], 0, 4) == 0x0605_4B50
        && place + 22 + Int(number(tail[place...], 20, 2)) <= tail.count
    }
  }

  /// A number of the record, its lowest byte first.
  private static func number(_ bytes: ArraySlice<UInt8>, _ offset: Int, _ count: Int) -> UInt64 {
    bytes.dropFirst(offset).prefix(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}
