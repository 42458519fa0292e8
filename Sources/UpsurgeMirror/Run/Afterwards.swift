import Upsurge

/// What is left to do when the ledgers of a run were seen.
struct Afterwards {
  /// Loads whose marks go.
  var loads: [EndedLoad] = []
  /// Files whose records are in the table.
  var files: [(path: String, done: DropFolder.Done)] = []

  func perform(_ note: (RunNote) -> Void) {
    for load in loads { load.acknowledge() }
    for (path, done) in files {
      do throws(UpsurgeError) {
        try done.apply(to: path)
      } catch {
        note(RunNote(.warning, "\(error.message); the next run tries it again (\(error.hint ?? ""))"))
      }
    }
  }
}
