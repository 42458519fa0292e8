/// What a run has said, so that it is not said again when the run starts over.
final class SaidNotes: Sendable {
  private let texts = Guarded<(now: [String], before: [String])>(([], []))

  /// Takes in a note.
  /// - Returns: whether it is new.
  func take(_ note: RunNote) -> Bool {
    texts.withLock {
      $0.now.append(note.text)
      guard let index = $0.before.firstIndex(of: note.text) else { return true }
      $0.before.remove(at: index)
      return false
    }
  }

  /// From here on each note that was said is left out once.
  func startOver() { texts.withLock { $0 = (now: [], before: $0.now) } }
}
