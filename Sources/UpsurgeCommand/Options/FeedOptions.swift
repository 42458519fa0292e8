import ArgumentParser
import Upsurge
import UpsurgeMirror

/// The options that say what a feed is, and what becomes of rows that it no longer has.
struct FeedOptions: ParsableArguments {
  @Option(help: "snapshot: every delivery is the whole truth; delta: it holds only changes.")
  var kind: MirrorTable.Kind = .snapshot

  @Option(
    help: ArgumentHelp(
      """
      What becomes of rows that a snapshot no longer has: none (they stay), hard (deleted), or soft:COL (the column \
      COL is set).
      """, valueName: "none|hard|soft:col"))
  var sweep: MirrorTable.Sweep = .none

  @Option(help: "SQL over the table: only rows for which it is true may be swept, as in 'tenant = 7'.")
  var scope: String?

  @Flag(
    help: """
      Keep a table upsurge_rows that queries can join: of each row that the feed delivers its source and the last run \
      that had it. Costs a write for each record and run.
      """)
  var rowState = false

  @Option(
    help: ArgumentHelp(
      """
      The feed's name: sweep only rows that this feed once delivered, so that rows made locally or by feeds of other names \
      stay. Guards count only those, and row state is kept.
      """, valueName: "name"))
  var ownedBy: String?

  @Option(
    help: """
      What becomes of rows that somebody has edited or deleted in the database since the feed has stored them: repair \
      (brought back to what the feed says, also where it has not changed) or keep (their records are passed over and count \
      as ignored; no sweep takes them). Keeps row state, and looks at every row in each run. Not given, edits are found by \
      --verify, or when the feed says something new of the row.
      """)
  var localEdits: LocalEdits?

  @Option(
    help: """
      What becomes of columns that the last accepted delivery had and this one lacks: refuse (exit 4, until --accept-change), \
      keep (rows keep their values) or null (the records have NULL there).
      """)
  var columnsGone: MirrorTable.ColumnsGone = .refuse

  func apply(to table: inout MirrorTable) throws {
    table.kind = kind
    table.localEdits = localEdits
    table.columnsGone = columnsGone
    table.keepsRowState = rowState
    table.ownedBy = ownedBy
    if let ownedBy, ownedBy.allSatisfy(\.isWhitespace) || ["true", "false"].contains(ownedBy) {
      throw ValidationError("--owned-by takes a name of the feed, such as crm")
    }
    table.sweep = sweep
    if scope?.allSatisfy(\.isWhitespace) == true { throw ValidationError("--scope is empty: give SQL") }
    table.scope = scope
  }
}

/// The options that say what must hold before a row is swept.
struct GuardOptions: ParsableArguments {
  @Option(help: "Sweep at most N rows, or P% of the rows in scope before the run.")
  var maxDelete: RowLimit = MirrorGuards().maximumDeletes

  @Option(help: "Sweep only when a snapshot has at least N records.")
  var minRows: UInt64 = MirrorGuards().leastRows

  @Option(help: "Sweep only when a snapshot has at least this share, 0 to 1, of the records of the last one.")
  var minRatio: Double = MirrorGuards().leastRatio

  @Flag(help: "A snapshot without a record means that there is no row.")
  var allowEmpty = false

  @Option(help: "A delivery has exactly N records, or is not whole.")
  var expectCount: UInt64?

  @Option(
    help: ArgumentHelp(
      """
      What the last line of each file looks like, which is no record and without which the file is cut: text in which * is \
      any text and {count} the number of records, as in 'TRL|*|{count}'.
      """, valueName: "pattern"))
  var trailer: String?

  @Option(
    parsing: .singleValue,
    help: """
      A number of records at which the source cuts its deliveries off: one with exactly as many is not swept; may be \
      given again.
      """)
  var suspicious: [UInt64] = []

  @Option(
    help: """
      Whether the last line of a file must end with a line end, without which nobody knows whether the file is whole: \
      required or any.
      """)
  var lineEnd: LineEndPolicy = .required

  func apply(to guards: inout MirrorGuards) throws {
    guard (0...1).contains(minRatio) else {
      throw ValidationError("--min-ratio takes a share from 0 to 1, such as 0.5")
    }
    if let trailer, TrailerPattern(trailer) == nil {
      throw ValidationError(
        "--trailer takes a text other than * with at most one {count}, such as 'TRL|*|{count}'")
    }
    guards.maximumDeletes = maxDelete
    guards.leastRows = minRows
    guards.leastRatio = minRatio
    guards.allowsEmpty = allowEmpty
    guards.expectedCount = expectCount
    guards.trailer = trailer
    guards.suspiciousCounts = suspicious
    guards.needsLineEnd = lineEnd == .required
  }
}

/// The options that say how the files of a folder are taken.
struct FolderOptions: ParsableArguments {
  @Option(help: "Files of a folder are taken in the order of their name, or time of change.")
  var folderOrder: DropFolder.Order = .name

  @Option(
    help: ArgumentHelp(
      "What becomes of a file of a folder that is stored: leave, delete, or move:DIR.",
      valueName: "leave|delete|move:dir"))
  var folderDone: DropFolder.Done = .leave

  func apply(to folder: inout DropFolder) {
    folder.order = folderOrder
    folder.done = folderDone
  }
}

/// Whether a last line without a line end is taken.
enum LineEndPolicy: String, CaseIterable, ExpressibleByArgument {
  case required, any
}

extension MirrorTable.Kind: ExpressibleByArgument {}
extension MirrorTable.ColumnsGone: ExpressibleByArgument {}
extension LocalEdits: ExpressibleByArgument {}
extension MirrorJob.Atomicity: ExpressibleByArgument {}
extension DropFolder.Order: ExpressibleByArgument {}

extension RowLimit: ExpressibleByArgument {
  public init?(argument: String) { self.init(text: argument) }

  public var defaultValueDescription: String {
    switch self {
    case .count(let count): "\(count)"
    case .percent(let share): (share == share.rounded() ? "\(Int(share))" : "\(share)") + "%"
    }
  }
}

extension MirrorTable.Sweep: ExpressibleByArgument {
  public static var allValueStrings: [String] { ["none", "hard", "soft:COL"] }

  public init?(argument: String) {
    switch argument {
    case "none": self = .none
    case "hard": self = .hard
    default:
      guard argument.hasPrefix("soft:"), argument.utf8.count > 5 else { return nil }
      self = .soft(column: String(argument.dropFirst(5)))
    }
  }

  public var defaultValueDescription: String {
    switch self {
    case .none: "none"
    case .hard: "hard"
    case .soft(let column): "soft:\(column)"
    }
  }
}

extension DropFolder.Done: ExpressibleByArgument {
  public static var allValueStrings: [String] { ["leave", "delete", "move:DIR"] }

  public init?(argument: String) {
    switch argument {
    case "leave": self = .leave
    case "delete": self = .delete
    default:
      guard argument.hasPrefix("move:"), argument.utf8.count > 5 else { return nil }
      self = .move(to: String(argument.dropFirst(5)))
    }
  }

  public var defaultValueDescription: String {
    switch self {
    case .leave: "leave"
    case .delete: "delete"
    case .move(let folder): "move:\(folder)"
    }
  }
}
