/// The files of a run, each with its identity as soon as it was opened; shared by its threads.
package final class RunFiles: Sendable {
  private struct State {
    var files: [RunFile]
    /// How many were opened, the first ones.
    var openedCount = 0
  }

  private let state: Guarded<State>

  init(_ sources: [Source]) {
    state = Guarded(State(files: sources.map { RunFile(name: $0.place, identity: nil) }))
  }

  /// Takes over what an earlier part of the run knew of the files that are done.
  func goOn(_ earlier: [FileIdentity?]) {
    state.withLock { state in
      for (index, identity) in zip(state.files.indices, earlier) { state.files[index].identity = identity }
    }
  }

  /// Notes what distinguishes the file from others; standard input is never taken for the same.
  func note(_ source: PreparedSource, index: Int) throws(UpsurgeError) {
    let opened = source.opened
    let identity = opened.kind == .standardInput ? nil : try opened.identity()
    state.withLock {
      $0.files[index].identity = identity
      $0.openedCount = max($0.openedCount, index + 1)
    }
  }

  package var all: [RunFile] { state.withLock { $0.files } }

  /// Whether everything that was opened can be read again from a file on.
  package func canReadAgain(from index: Int) -> Bool {
    state.withLock { state in
      index < state.openedCount && state.files[index..<state.openedCount].allSatisfy { $0.identity != nil }
    }
  }
}
