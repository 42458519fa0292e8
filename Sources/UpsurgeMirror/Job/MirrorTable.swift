import Upsurge
import UpsurgeInput

/// One table of a job, and the feed that says what it holds.
public struct MirrorTable: Sendable {
  public var name: String
  /// Paths, globs, folders, URLs, `exec:COMMAND`, `sqlite:PATH#TABLE`, or `-` for standard input.
  public var sources: [Source]
  /// The secrets that have been put into the sources, each with what stands for it in the job file: `${env:NAME}`.
  package var secrets: [String: String] = [:]
  /// The secrets that commands refer to, by the variables of their environment that hold them.
  package var environment: [String: String] = [:]
  /// What the last line of each file says; nil where there is no such line, as in a database.
  var trailer: TrailerPattern? {
    sources.allSatisfy(\.isDatabase) ? nil : guards.trailer.flatMap { TrailerPattern($0) }
  }
  /// Hides them, and what they are part of.
  package var mask: SecretMask { SecretMask(sources: sources, values: secrets) }
  /// The sources without secrets that were put into others.
  var maskedSources: [Source] {
    let mask = mask
    return sources.map { $0.hidden(by: mask) }
  }
  /// What http and https sources are asked with, by the header's name; may hold secrets, so never shown.
  public var headers: [String: String] = [:]
  public var kind = Kind.snapshot
  public var sweep = RowSweep.none
  /// SQL over the table: only rows for which it is true belong to the feed.
  public var scope: String?
  /// Whether `upsurge_rows` says of each row that the feed has delivered when that was, and from where.
  public var keepsRowState = false
  /// The feed's name among those of the table: only rows that it has delivered are swept, and none that another feed
  /// delivers; nil where all rows are the feed's. Needs a sweep, and keeps the state of rows.
  public var ownedBy: String?
  /// What becomes of rows that somebody has edited or deleted in the database since the feed has stored them; nil where
  /// that is not looked for. Keeps the state of rows.
  public var localEdits: LocalEdits?
  /// What becomes of columns that the feed no longer has.
  public var columnsGone = ColumnsGone.refuse
  public var guards = MirrorGuards()
  public var folder = DropFolder()
  public var unattended = UnattendedRules()
  /// How the records are read and stored; `rejects`, `onError` and the like of the table.
  public var options: LoadOptions

  public init(name: String, sources: [Source], options: LoadOptions = LoadOptions()) {
    self.name = name
    self.sources = sources
    self.options = options
  }

  /// A table whose sources are texts, as `Source.init(_:)` reads them.
  @_disfavoredOverload
  public init(name: String, sources: [String], options: LoadOptions = LoadOptions()) {
    self.init(name: name, sources: sources.map { Source($0) }, options: options)
  }

  public enum Kind: String, Sendable, CaseIterable {
    /// Every delivery is the whole truth.
    case snapshot
    /// A delivery holds only changes.
    case delta
  }

  /// What becomes of a delivery that lacks columns which the last accepted one had.
  public enum ColumnsGone: String, Sendable, CaseIterable {
    /// The delivery is refused until the change is accepted.
    case refuse
    /// The delivery is taken, and rows keep their values in these columns.
    case keep
    /// The delivery is taken, and its rows get NULL in these columns.
    case null
  }
}
