/// What a load is given: the job, its files, and how it begins.
package struct LoadInput {
  package let runJob: RunJob
  let script: InitScript
  /// The files that the job's sources stand for.
  package let sources: [Source]
  package let beginning: Beginning
  /// Spent in reading sources ahead.
  package var aheadSeconds = 0.0

  /// The names of the sources in positions.
  package var names: [String] { sources.map(\.name) }

  /// The first source that is read, and those after it.
  package var remainingSources: ArraySlice<Source> { sources[beginning.index...] }

  /// The sources that are read after the first one.
  package var otherSources: ArraySlice<Source> { remainingSources.dropFirst() }
}
