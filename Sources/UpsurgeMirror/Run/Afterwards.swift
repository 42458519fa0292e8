import Upsurge
import UpsurgeStorage

/// What is left to do when the ledgers of a run were seen.
struct Afterwards {
  /// Loads whose marks go.
  var loads: [EndedLoad] = []
  /// Files whose records are in the table.
  var files: [(path: String, content: DeliveredFile, done: DropFolder.Done)] = []
  /// Keep other runs from the tables.
  var locks: [JobLock] = []

  /// So many loads of files that are noted wait at most: each has a connection.
  private static let loadLimit = 8

  /// Adds a load of a file that is noted as taken.
  mutating func add(_ load: EndedLoad) {
    if loads.count >= Self.loadLimit { loads.removeFirst().acknowledge() }
    loads.append(load)
  }

  func perform(_ note: (RunNote) -> Void) {
    for load in loads { load.acknowledge() }
    for (path, content, done) in files {
      do throws(UpsurgeError) {
        try done.apply(to: path, if: content)
      } catch {
        note(RunNote(.warning, "\(error.message); the next run tries it again (\(error.hint ?? ""))"))
      }
    }
  }
}
