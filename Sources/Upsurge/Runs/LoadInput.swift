/// What a load is given: the job, its files, and how it begins.
struct LoadInput {
  let runJob: RunJob
  let script: InitScript
  /// The files that the job's sources stand for.
  let sources: [Source]
  let beginning: Beginning
  /// Spent in reading sources ahead.
  var aheadSeconds = 0.0

  /// The names of the sources in positions.
  var names: [String] { sources.map(\.name) }

  /// The first source that is read, and those after it.
  var remainingSources: ArraySlice<Source> { sources[beginning.index...] }

  /// The sources that are read after the first one.
  var otherSources: ArraySlice<Source> { remainingSources.dropFirst() }
}
