/// The files of a run, each with its identity as soon as it was opened; shared by its threads.
final class RunFiles: Sendable {
  private let files: Guarded<[RunFile]>

  init(_ sources: [Source]) {
    files = Guarded(sources.map { RunFile(name: $0.place, identity: nil) })
  }

  /// Takes over what an earlier part of the run knew of the files that are done.
  func goOn(_ earlier: [FileIdentity?]) {
    files.withLock { files in
      for (index, identity) in zip(files.indices, earlier) { files[index].identity = identity }
    }
  }

  /// Notes what tells the file from others; standard input is never taken for the same.
  func note(_ source: PreparedSource, index: Int) throws(UpsurgeError) {
    let opened = source.opened
    let identity = opened.kind == .standardInput ? nil : try opened.identity()
    files.withLock { $0[index].identity = identity }
  }

  var all: [RunFile] { files.withLock { $0 } }
}
