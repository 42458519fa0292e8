/// What a load is given: the job, its files, and how it begins.
struct LoadInput {
  let runJob: RunJob
  let script: InitScript
  /// The files that the job's sources stand for, as they are opened.
  let sources: [String]
  /// The files' names as they may be shown and stored: without the credentials of URLs.
  let names: [String]
  let beginning: Beginning
  /// Spent in reading sources ahead.
  var aheadSeconds = 0.0

  /// The first source that is read, and those behind it.
  var remainingNames: ArraySlice<String> { names[beginning.index...] }

  /// The sources after the first one that is read, as they are opened.
  var otherSources: ArraySlice<String> { sources[beginning.index...].dropFirst() }
}
