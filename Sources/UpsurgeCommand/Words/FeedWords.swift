import ArgumentParser
import Upsurge
import UpsurgeMirror

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

extension RowSweep: ExpressibleByArgument {
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

/// A number of runs, files or records, or `all`.
struct RunCount: ExpressibleByArgument {
  /// nil for all.
  var count: UInt64?

  init(_ count: UInt64?) { self.count = count }

  init?(argument: String) {
    if argument == "all" { return }
    guard let count = UInt64(argument), count > 0 else { return nil }
    self.count = count
  }

  var defaultValueDescription: String { count.map { "\($0)" } ?? "all" }
}
