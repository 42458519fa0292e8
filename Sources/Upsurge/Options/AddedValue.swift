/// Where the value of a column comes from that no field of the input fills.
///
/// Such a column is set in a row that is new, or that changes for another reason. By itself it changes no row.
public enum AddedValue: Sendable, Equatable {
  /// The name of the file or other source that the record is of.
  case file
  /// The record's number in it, from 1.
  case record
  /// The line on which the record begins, from 1.
  case line
  /// When the run began, also where it was resumed since: `2026-01-05T09:30:00Z`.
  case run
  /// When the part of the run began that has read the record.
  case now
  /// A text of your own.
  case text(String)

  /// One of the words `file`, `record`, `line`, `run` and `now`, or a text; one that begins with `=` is what follows that.
  public init(text: String) {
    switch text {
    case "file": self = .file
    case "record": self = .record
    case "line": self = .line
    case "run": self = .run
    case "now": self = .now
    default: self = .text(text.hasPrefix("=") ? String(text.dropFirst()) : text)
    }
  }

  /// As `init(text:)` reads it.
  package var text: String {
    switch self {
    case .file: "file"
    case .record: "record"
    case .line: "line"
    case .run: "run"
    case .now: "now"
    case .text(let text): "=" + text
    }
  }

  /// What a column of a new table is that holds it.
  var isNumber: Bool { self == .record || self == .line }
}

extension LoadOptions.Table {
  /// The added columns by name, in an order of their own.
  var addedColumns: [(name: String, value: AddedValue)] {
    added.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  func isAdded(_ name: String) -> Bool { added.keys.contains { SQLName.isSame($0, name) } }
}

extension LoadOptions {
  /// The options with the rule of each added column, which goes along with others and changes no row by itself.
  var withRulesOfAddedColumns: LoadOptions {
    var options = self
    for name in table.added.keys where !rules.merge.columns.keys.contains(where: { SQLName.isSame($0, name) }) {
      options.rules.merge.columns[name] = .along
    }
    return options
  }
}
