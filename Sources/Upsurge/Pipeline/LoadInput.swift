/// What a load is given: the job, its files, and how it begins.
struct LoadInput {
  let runJob: RunJob
  let script: InitScript
  /// The files that the job's sources stand for, as they are opened.
  let sources: [String]
  /// The same as they may be shown and stored: without the credentials of URLs.
  let names: [String]
  var beginning: Beginning

  /// The first source that is read, and those behind it.
  var remainingNames: ArraySlice<String> { names[beginning.index...] }

  /// Those behind the first one, as they are opened.
  var otherSources: ArraySlice<String> { sources[beginning.index...].dropFirst() }
}

/// How a load has ended that was not refused and did not fail.
enum LoadEnd {
  /// As it should, or as a signal has asked.
  case done
  /// The earlier run cannot go on, as its input is not what it was; nothing was done.
  case inputChanged(RunRecord)
  /// Rows were packed for nothing, and nothing of the run is in the database: it must start over, through SQLite.
  case void
}
