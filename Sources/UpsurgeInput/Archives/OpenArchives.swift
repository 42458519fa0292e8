import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What reads the archives of a run: within which bounds, and the reader that stands where the next member begins.
///
/// To find a member of a compressed tar archive, all before it must be decompressed. So the reader of one member is kept for the
/// next one, and all members are read in one go.
package final class OpenArchives: Sendable {
  /// How many times as large as what was read an archive may become; nil is no bound.
  let maximumRatio: Double?
  /// How far back a compressed stream may refer.
  let windowByteLimit: Int
  /// The sheet of workbooks that is meant, by its name or number; nil for the first one.
  let sheet: String?
  /// What the texts of a workbook may take in memory.
  let textByteLimit: Int
  /// Makes the file for texts of a workbook that do not fit in memory.
  let makeSpool: @Sendable () -> SpoolFile
  private let parked = Guarded<ArchiveReader?>(nil)
  private let keeping = Guarded<(stamp: ArchiveFile.Stamp, content: any AnyObject & Sendable)?>(nil)
  private let opened = Guarded(false)

  /// What holds where nobody says anything else.
  package static let maximumRatio = 10_000.0
  static let windowByteLimit = 128 << 20

  package init(
    maximumRatio: Double? = OpenArchives.maximumRatio, windowByteLimit: Int = OpenArchives.windowByteLimit,
    sheet: String? = nil, textByteLimit: Int = 16 << 20,
    makeSpool: @escaping @Sendable () -> SpoolFile = temporarySpool
  ) {
    (self.sheet, self.textByteLimit, self.makeSpool) = (sheet, textByteLimit, makeSpool)
    (self.maximumRatio, self.windowByteLimit) = (maximumRatio, windowByteLimit)
  }

  /// A reader of a file that has not come to a member yet.
  func take(_ stamp: ArchiveFile.Stamp?, before index: Int) -> ArchiveReader? {
    parked.withLock { parked in
      guard let reader = parked, reader.file.stamp == stamp, reader.nextIndex <= index else { return nil }
      parked = nil
      return reader
    }
  }

  /// Keeps a reader for the next member, in the place of another one.
  func giveBack(_ reader: ArchiveReader) {
    reader.file.cancellation = nil
    parked.withLock { $0 = reader }
  }

  /// What was read of a file, and is kept as long as nobody writes to it.
  func kept(of stamp: ArchiveFile.Stamp) -> (any AnyObject & Sendable)? {
    keeping.withLock { $0?.stamp == stamp ? $0?.content : nil }
  }

  /// Keeps something of a file, in the place of another one: what may take memory is there once.
  func keep(_ content: (stamp: ArchiveFile.Stamp, content: any AnyObject & Sendable)?) {
    keeping.withLock { $0 = content }
    if content != nil { opened.withLock { $0 = true } }
  }

  /// What of the memory is for texts of workbooks; 0 as long as none was opened.
  package var reservedByteCount: Int { opened.withLock { $0 } ? textByteLimit : 0 }

  /// Makes a file in the folder for temporary files.
  package static let temporarySpool: @Sendable () -> SpoolFile = {
    SpoolFile(in: getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp", for: .texts) { nil }
  }
}
