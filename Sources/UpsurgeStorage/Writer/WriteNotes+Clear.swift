import UpsurgeSQLite

extension WriteNotes {
  /// Forgets what was counted. Stands here because each statement begins with it, and a call into another module is
  /// never inlined.
  @inline(__always)
  mutating func clear() {
    updates = 0
    differences = 0
    conflicts = 0
  }
}
