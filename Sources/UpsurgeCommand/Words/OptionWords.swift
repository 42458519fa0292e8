import ArgumentParser
import Upsurge

/// Whether a missing table is made.
enum CreatePolicy: String, CaseIterable, ExpressibleByArgument {
  case auto, never
}

/// What a replay may be asked for: what it stores is never at stake.
enum ReplayDurability: String, CaseIterable, ExpressibleByArgument {
  case full, normal
}

/// How what is said is written.
enum LogFormat: String, CaseIterable, ExpressibleByArgument {
  case text, json
}

/// When the progress line is shown.
enum ProgressPolicy: String, CaseIterable, ExpressibleByArgument {
  case auto, always, never
}

extension ByteSize: ExpressibleByArgument {
  public init?(argument: String) { self.init(text: argument) }
  public var defaultValueDescription: String { description }
}

extension CommitInterval: ExpressibleByArgument {
  public init?(argument: String) { self.init(text: argument) }
  public var defaultValueDescription: String { description }
}

extension LoadOptions.DirectPolicy: ExpressibleByArgument {
  /// `always` is for tests.
  public static var allValueStrings: [String] { [auto, never].map(\.rawValue) }
}
extension RecordFormat: ExpressibleByArgument {}
extension Compression: ExpressibleByArgument {}
extension CSVDialect.RaggedPolicy: ExpressibleByArgument {}
extension CSVDialect.Quotes: ExpressibleByArgument {}
extension CSVDialect.QuotedEmpty: ExpressibleByArgument {}
extension Durability: ExpressibleByArgument {}
extension ErrorPolicy: ExpressibleByArgument {}
extension ResumePolicy: ExpressibleByArgument {}
extension WriteMode: ExpressibleByArgument {}
extension NullKeyPolicy: ExpressibleByArgument {}
extension SchemaContract: ExpressibleByArgument {}
extension Upkeep: ExpressibleByArgument {}
extension TriggerPolicy: ExpressibleByArgument {}
extension ForeignKeyPolicy: ExpressibleByArgument {}
extension BlobEncoding: ExpressibleByArgument {}
extension DryRun: ExpressibleByArgument {}
extension LoadOptions.Inference: ExpressibleByArgument {}
extension ValueFormats.Trim: ExpressibleByArgument {}
extension JSONDialect.DuplicateKeys: ExpressibleByArgument {}
extension JSONDialect.NonFinite: ExpressibleByArgument {}
