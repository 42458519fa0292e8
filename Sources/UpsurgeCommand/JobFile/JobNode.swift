import Upsurge

/// A value of a job file, with its place.
struct JobNode {
  enum Content {
    /// As it is written: `007` and `1e3` are texts too, until somebody asks for a number.
    case text(String)
    /// An empty value, `~` or `null` without quotes.
    case nothing
    case list([JobNode])
    case mapping([Entry])
  }

  struct Entry {
    var key: String
    var keyPlace: JobPlace
    var value: JobNode
  }

  var content: Content
  /// Whether a text has no quotes, so that `true` is no word but a truth.
  var isPlain = false
  /// Whether nothing is written as `null`, which is a value of some options.
  var isNullWord = false
  var place: JobPlace

  /// Bytes of all texts in it.
  var byteCount: Int {
    switch content {
    case .text(let text): text.utf8.count
    case .nothing: 0
    case .list(let nodes): nodes.reduce(0) { $0 + $1.byteCount }
    case .mapping(let entries): entries.reduce(0) { $0 + $1.key.utf8.count + $1.value.byteCount }
    }
  }

  /// What it is, for messages.
  var kind: String {
    switch content {
    case .text: "a text"
    case .nothing: "nothing"
    case .list: "a list"
    case .mapping: "a mapping"
    }
  }
}

/// Where in a job file something is, and how an error there is told.
struct JobPlace: Equatable {
  var file: String
  /// From 1.
  var line: Int
  /// In Unicode scalars, from 1.
  var column: Int

  /// `at job.yaml:7:12`, as compilers say it, so that editors find it.
  /// - Parameter path: the keys that lead there: `tables.members.sweep`; empty for the file as a whole.
  func error(
    _ path: String, _ message: String, hint: String? = nil, code: UpsurgeError.Code = .usage
  ) -> UpsurgeError {
    let text = path.isEmpty ? message : "\(path): \(message)"
    return UpsurgeError(
      code, text.escapedForTerminal,
      position: Position(file: "\(SourceName.shown(file)):\(line):\(column)"), hint: hint?.escapedForTerminal)
  }
}
