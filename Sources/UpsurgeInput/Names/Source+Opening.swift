import UpsurgeRecords

extension Source {
  /// What a source is; says nothing of which one.
  package enum Kind: Sendable, Hashable {
    /// Also a glob, a folder, and what looks like a URL and is not fetched.
    case file
    case standardInput, url, command
    /// Rows of a database, in a file or of a server.
    case database
    /// The program itself.
    case program

    /// Whether it is no file but a stream that is sent: what a URL leads to, what a command or the program itself writes, rows
    /// of a database.
    package var isFeed: Bool {
      switch self {
      case .file, .standardInput: false
      case .url, .command, .database, .program: true
      }
    }
  }

  /// What a source is opened by. Holds its secrets: a text of it is never shown.
  package enum Opening: Sendable, Hashable {
    case file(path: String)
    /// As it was spelled: `-`, `/dev/stdin`, `/dev/fd/0` or `/proc/self/fd/0`.
    case standardInput(String)
    /// `http://…` or `https://…`.
    case url(String)
    /// What follows `exec:`.
    case command(String)
    /// What begins with `sqlite:`, and the rows that it names; nil where it names none.
    case database(String, DatabaseSource?)
    /// The URL of a database server, and the rows that it names; nil where it names none.
    case server(String, ServerSource?)
    /// What begins with `program:`.
    case program(String)
  }
}

extension Source.Opening {
  /// The prefix of a command whose output is read.
  static let commandMark = "exec:"

  /// The prefix of the path of a database whose rows are read.
  static let databaseMark = "sqlite:"

  /// The prefix of the name of a source that the program itself is.
  static let programMark = "program:"

  init(_ text: String) {
    let standardInputs = [SourceName.standardInput, "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"]
    self =
      if standardInputs.contains(text) {
        .standardInput(text)
      } else if text.begins(inAnyCaseWith: "http://") || text.begins(inAnyCaseWith: "https://") {
        .url(text)
      } else if text.utf8.starts(with: Self.commandMark.utf8) {
        .command(String(decoding: text.utf8.dropFirst(Self.commandMark.utf8.count), as: UTF8.self))
      } else if text.utf8.starts(with: Self.databaseMark.utf8) {
        .database(text, DatabaseSource(text))
      } else if ServerSource.isServer(text) {
        .server(text, ServerSource(text))
      } else if text.utf8.starts(with: Self.programMark.utf8) {
        .program(text)
      } else {
        .file(path: text)
      }
  }

  /// All of it, as it was given.
  package var text: String {
    switch self {
    case .file(let text), .standardInput(let text), .url(let text), .database(let text, _),
      .server(let text, _),
      .program(let text):
      text
    case .command(let command): Self.commandMark + command
    }
  }

  var kind: Source.Kind {
    switch self {
    case .file: .file
    case .standardInput: .standardInput
    case .url: .url
    case .command: .command
    case .database, .server: .database
    case .program: .program
    }
  }

  var isFeed: Bool { kind.isFeed }

  /// A shown name with what says that it is a feed, where that is part of a secret: `https://${env:URL}`.
  func ofKind(_ shown: String) -> String {
    guard isFeed, !Self(shown).isFeed else { return shown }
    switch self {
    case .url(let url), .server(let url, _): return "\(url.prefix { $0 != ":" })://\(shown)"
    case .database: return Self.databaseMark + shown
    default: return Self.commandMark + shown
    }
  }
}

extension Source.Opening: CustomStringConvertible, CustomReflectable {
  /// What kind of source is opened, and nothing that may be secret.
  package var description: String { "\(kind)" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension String {
  /// Whether it begins with an ASCII text in lower case, whatever its own case.
  fileprivate func begins(inAnyCaseWith prefix: String) -> Bool {
    utf8.count >= prefix.utf8.count && zip(utf8, prefix.utf8).allSatisfy { URLText.lowercased($0) == $1 }
  }
}
