import UpsurgeRecords

/// What reads the archives of a run: within which bounds, and the reader that stands where the next member begins.
///
/// To find a member of a compressed tar archive, all before it must be decompressed. So the reader of one member is kept for the
/// next one, and all members are read in one go.
package final class OpenArchives: Sendable {
  /// How many times as large as what was read an archive may become; nil is no bound.
  let maximumRatio: Double?
  /// How far back a compressed stream may refer.
  let windowByteLimit: Int
  private let parked = Guarded<ArchiveReader?>(nil)

  /// What holds where nobody says anything else.
  package static let maximumRatio = 10_000.0
  static let windowByteLimit = 128 << 20

  package init(
    maximumRatio: Double? = OpenArchives.maximumRatio, windowByteLimit: Int = OpenArchives.windowByteLimit
  ) {
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
}
