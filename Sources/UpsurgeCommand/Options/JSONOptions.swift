import ArgumentParser
import Upsurge

/// The options that say how JSON is read; part of `InputOptions`.
struct JSONOptions: ParsableArguments {
  @Option(.flatten) var flattenSeparator: String?

  @Option(.jsonPath) var jsonPath: String?

  @Option(.jsonMap) var jsonMap: String?

  @Option(.duplicateKeys) var duplicateKeys = LoadOptions.Input().duplicateKeys

  @Option(.jsonNaN) var jsonNaN = LoadOptions.Input().jsonNaN

  /// Puts what was given into `input`.
  /// - Throws: `ValidationError` that names the option.
  func apply(to input: inout LoadOptions.Input) throws {
    input.flattenSeparator = flattenSeparator
    if let jsonPath {
      do throws(UpsurgeError) {
        input.jsonPath = try JSONPath.parse(jsonPath)
        input.takesWrapper = input.jsonPath.isEmpty
      } catch { throw ValidationError(error.message + (error.hint.map { "\n  fix: \($0)" } ?? "")) }
    }
    input.jsonMap = jsonMap
    input.duplicateKeys = duplicateKeys
    input.jsonNaN = jsonNaN
  }
}
