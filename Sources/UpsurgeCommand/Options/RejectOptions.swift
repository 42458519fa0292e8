import ArgumentParser
import Upsurge

/// The options that say what becomes of bad records.
struct RejectOptions: ParsableArguments {
  @Option(.onError) var onError: ErrorPolicy?

  @Option(.rejects) var rejects: String?

  @Option(.maxRejects) var maxRejects: String?

  /// - Parameter defaultPolicy: holds where `--on-error` is not given.
  /// - Throws: `ValidationError` that names the option.
  func apply(to rejects: inout LoadOptions.Rejects, defaultPolicy: ErrorPolicy) throws {
    rejects.onError = onError ?? defaultPolicy
    rejects.target = self.rejects.map { RejectsTarget(text: $0) }
    if let maxRejects {
      guard let limit = RowLimit(text: maxRejects) else {
        throw ValidationError("--max-rejects \(maxRejects): give a number, or a share such as 2%")
      }
      rejects.limit = limit
    }
  }
}
