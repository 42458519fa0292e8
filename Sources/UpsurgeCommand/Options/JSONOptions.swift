import ArgumentParser
import Upsurge

/// The options that say how JSON is read; part of `InputOptions`.
struct JSONOptions: ParsableArguments {
  @Option(.flatten) var flattenSeparator: String?

  @Option(.jsonPath) var jsonPath: String?

  @Option(.jsonMap) var jsonMap: String?

  @Option(.duplicateKeys) var duplicateKeys: JSONDialect.DuplicateKeys = .lastWins

  @Option(.jsonNaN) var jsonNaN: JSONDialect.NonFinite = .reject

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
