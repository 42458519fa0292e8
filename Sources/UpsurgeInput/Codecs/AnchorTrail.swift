import UpsurgeRecords

/// The frames or members that a decompressor has met, so that reading can begin again at one of them.
///
/// Memory is bounded: whoever asks lets go of earlier places, and where nobody asks, every second place is
/// forgotten when there are too many. A place that is missing only means that more is decompressed and skipped.
final class AnchorTrail {
  /// In ascending order of both offsets.
  private(set) var anchors: [SourceAnchor]
  /// The most places that are kept.
  static let limit = 1024

  init(start: SourceAnchor) { anchors = [start] }

  /// Notes the beginning of a frame; of several at one decoded offset (empty or skippable ones) the last counts.
  func note(fileOffset: UInt64, decodedOffset: UInt64) {
    let anchor = SourceAnchor(fileOffset: fileOffset, decodedOffset: decodedOffset)
    if anchors.last?.decodedOffset == decodedOffset {
      anchors[anchors.count - 1] = anchor
      return
    }
    if anchors.count == Self.limit { thinOut() }
    anchors.append(anchor)
  }

  /// The last place at or before a byte of the decoded stream; those before it are forgotten. Where the byte lies
  /// precedes all that is kept, it is the start of the file.
  func last(before byte: UInt64) -> SourceAnchor {
    guard
      let next = anchors.firstIndex(where: { $0.decodedOffset > byte })
        ?? anchors.indices.last.map({ $0 + 1 }),
      next > 0
    else { return SourceAnchor() }
    anchors.removeFirst(next - 1)
    return anchors[0]
  }

  private func thinOut() {
    anchors = anchors.indices.compactMap { $0 % 2 == 0 ? anchors[$0] : nil }
  }
}
