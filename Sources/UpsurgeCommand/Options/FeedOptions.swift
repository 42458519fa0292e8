import ArgumentParser
import Upsurge
import UpsurgeMirror

/// The options that say what a feed is, and what becomes of rows that it no longer has.
struct FeedOptions: ParsableArguments {
  @Option(.kind) var kind: MirrorTable.Kind = .snapshot

  @Option(.sweep) var sweep: RowSweep = .none

  @Option(.scope) var scope: String?

  @Flag(.rowState) var rowState = false

  @Option(.ownedBy) var ownedBy: String?

  @Option(.localEdits) var localEdits: LocalEdits?

  @Option(.columnsGone) var columnsGone: MirrorTable.ColumnsGone = .refuse

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
  @Option(.maxDelete) var maxDelete: RowLimit = MirrorGuards().maximumDeletes

  @Option(.minRows) var minRows: UInt64 = MirrorGuards().leastRows

  @Option(.minRatio) var minRatio: Double = MirrorGuards().leastRatio

  @Flag(.allowEmpty) var allowEmpty = false

  @Option(.expectCount) var expectCount: UInt64?

  @Option(.trailer) var trailer: String?

  @Option(.suspicious) var suspicious: [UInt64] = []

  @Option(.lineEnd) var lineEnd: LineEndPolicy = .required

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
  @Option(.folderOrder) var folderOrder = DropFolder().order

  @Option(.folderDone) var folderDone = DropFolder().done

  func apply(to folder: inout DropFolder) {
    folder.order = folderOrder
    folder.done = folderDone
  }
}
