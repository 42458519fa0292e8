import ArgumentParser
import Upsurge

/// The options that say how JSON is read; part of `InputOptions`.
struct JSONOptions: ParsableArguments {
  @Option(
    name: .customLong("flatten"),
    help: ArgumentHelp(
      "Nested JSON objects become columns: a_b. Another separator than _ may be given.",
      valueName: "sep"))
  var flattenSeparator: String?

  @Option(
    help: "Keys that lead to the array of records in a JSON document: data.items; $ for the document itself.")
  var jsonPath: String?

  @Option(
    help: ArgumentHelp(
      "The document, or what --json-path leads to, is an object each of whose values is a record; its key goes into this column.",
      valueName: "column"))
  var jsonMap: String?

  @Option(help: "A key twice in one JSON object: last-wins or reject.")
  var duplicateKeys: JSONDialect.DuplicateKeys = .lastWins

  @Option(name: .customLong("json-nan"), help: "NaN and Infinity as JSON values: null, or reject the record.")
  var jsonNaN: JSONDialect.NonFinite = .reject

  /// Puts what was given into `options`.
  /// - Throws: `ValidationError` that names the option.
  func apply(to options: inout LoadOptions) throws {
    options.flattenSeparator = flattenSeparator
    if let jsonPath {
      do throws(UpsurgeError) {
        options.jsonPath = try JSONPath.parse(jsonPath)
        options.takesWrapper = options.jsonPath.isEmpty
      } catch { throw ValidationError(error.message + (error.hint.map { "\n  fix: \($0)" } ?? "")) }
    }
    options.jsonMap = jsonMap
    options.duplicateKeys = duplicateKeys
    options.jsonNaN = jsonNaN
  }
}
