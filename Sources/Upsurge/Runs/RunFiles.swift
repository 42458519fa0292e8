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
    state.withLock { $0.openedCount > index } && firstUnreadable(from: index) == nil
  }

  /// Whether all files up to one were opened and can be read again.
  package func canReadAgain(upTo index: Int) -> Bool {
    state.withLock { state in
      index < state.files.count && state.files[...index].allSatisfy { $0.identity != nil }
    }
  }

  /// How many were opened, the first ones.
  package var openedCount: Int { state.withLock { $0.openedCount } }

  /// The first of the files that were opened, from one on, which cannot be read again; nil where all can.
  func firstUnreadable(from index: Int) -> Int? {
    state.withLock { state in
      (min(index, state.openedCount)..<state.openedCount).first { state.files[$0].identity == nil }
    }
  }
}
