import ArgumentParser
import Upsurge

/// The options that say what becomes of bad records.
struct RejectOptions: ParsableArguments {
  @Option(
    help: "stop at the first bad record, or reject it and go on. Default: stop; of a mirror job reject.")
  var onError: ErrorPolicy?

  @Option(
    help: """
      Keep rejected records in this file (NDJSON with file, record, line, byte, reason, raw), or with `table` in the \
      table upsurge_rejects; `upsurge replay` tries them again.
      """)
  var rejects: String?

  @Option(help: "End the run when more records are rejected: N, or P% of the records read.")
  var maxRejects: String?

  /// - Parameter defaultPolicy: holds where `--on-error` is not given.
  /// - Throws: `ValidationError` that names the option.
  func apply(to options: inout LoadOptions, defaultPolicy: ErrorPolicy) throws {
    options.onError = onError ?? defaultPolicy
    options.rejects = rejects.map { RejectsTarget(text: $0) }
    if let maxRejects {
      guard let limit = RowLimit(text: maxRejects) else {
        throw ValidationError("--max-rejects \(maxRejects): give a number, or a share such as 2%")
      }
      options.rejectLimit = limit
    }
  }
}
