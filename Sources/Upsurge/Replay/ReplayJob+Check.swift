import UpsurgeRecords

extension ReplayJob {
  /// Refuses a summary that would overwrite the database or the file of rejects.
  /// - Throws: `usage`.
  package func checkSummary(path: String?) throws(UpsurgeError) {
    guard let path, path != "-" else { return }
    let file = FileNode(path)
    for suffix in ["", "-wal", "-shm", "-journal"] {
      let other = FileNode(database + suffix)
      if path == database + suffix || (file != nil && file == other) {
        throw UpsurgeError(
          .usage, "\(.summary, path) would overwrite the database \(database)",
          hint: "give another path to \(.summary)")
      }
    }
    guard let rejects = self.file else { return }
    for other in [rejects, RejectFileRewrite.path(of: rejects)]
    where path == other || (file != nil && file == FileNode(other)) {
      throw UpsurgeError(
        .usage, "\(.summary, path) would overwrite the file of rejects, or what is left of it",
        hint: "give another path to \(.summary)")
    }
  }
}
