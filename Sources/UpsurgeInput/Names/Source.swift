import UpsurgeRecords

/// Where records come from: a file, a glob, a folder, standard input, a URL, a command, rows of a database, or the program
/// itself.
///
///     let source = Source("https://user:hunter2@host/a.csv?token=abc")
///
///     print(source)    https://***@host/a.csv?token=***
///     source.name      the same: it is stored, and stands in positions and rejects
///     source.opening    .url("https://user:hunter2@host/a.csv?token=abc")
///
/// What it is, is decided once, when it is made of a text. Its secrets are in `opening` alone, which only the code that opens
/// it asks for: `print`, `dump` and a debugger show the source as it may be shown.
public struct Source: Sendable, Hashable {
  /// What it is opened by; holds its secrets, so it is never shown and never stored.
  package let opening: Opening
  /// The name in positions, records of runs and rejects. A URL, a command or rows of a database go by what may be shown. A
  /// file goes by its path, as it is found again by it.
  package private(set) var name: String
  /// The text with other words in the place of its secrets; nil where it has none.
  private let written: String?

  /// - Parameter text: a path, a glob, `http://…`, `https://…`, `exec:COMMAND`, `sqlite:PATH#TABLE`,
  ///   `sqlite:PATH?query=SELECT …`, the same of `postgres://HOST/DATABASE`, or `-` for standard input.
  public init(_ text: String) {
    opening = Opening(text)
    name = SourceName.redacted(text)
    written = nil
  }

  /// A source into whose text secrets were put.
  ///
  ///     Source("exec:mysql -phunter2 shop", shown: "exec:mysql -p${env:PW} shop")
  ///
  /// - Parameters:
  ///   - text: as it is opened.
  ///   - shown: the same without the secrets. Passwords in URLs are left out without it.
  public init(_ text: String, shown: String) {
    opening = Opening(text)
    written = text == shown ? nil : shown
    name = opening.isFeed ? SourceName.redacted(opening.ofKind(shown)) : text
  }

  /// The file with this path, as a folder lists it: also one that is called `-` or `exec:x`.
  package init(file path: String) {
    let isFile = if case .file = Opening(path) { true } else { path.utf8.first == UInt8(ascii: "/") }
    self.init(isFile ? path : "./" + path)
  }

  /// What the program itself makes.
  package init(program name: String) { self.init(Opening.programMark + name) }

  /// Without what a mask hides besides, where the source has no words of its own for that.
  package func hidden(by mask: SecretMask) -> Source {
    if mask.isEmpty || written != nil || !isFeed { return self }
    var source = self
    source.name = mask.name(opening.text)
    return source
  }

  // MARK: - What may be shown

  /// As it was written, without its secrets.
  package var label: String { written ?? name }

  /// The source's label with the mark of its kind, which may be a part of the secret: `https://${env:URL}`.
  var markedLabel: String { opening.ofKind(label) }

  /// Whether other words stand in the place of secrets.
  package var isReworded: Bool { written != nil }

  /// Whether something of the text is not shown.
  package var hidesSecrets: Bool { label != opening.text }

  /// As messages show it: `standard input`, or its label with control characters made visible.
  package var shown: String {
    // One that is not fetched may hold a password, too.
    kind == .file && scheme != nil && ServerSource.misspelling(label) == nil ? URLText.redacted(label).escapedForTerminal : SourceName.shown(label)
  }

  // MARK: - What it is

  package var kind: Kind { opening.kind }
  package var isStandardInput: Bool { kind == .standardInput }
  package var isDatabase: Bool { kind == .database }
  package var isURL: Bool { kind == .url }

  package var isFeed: Bool { kind.isFeed }

  /// The command whose output it is; nil for anything else.
  var command: String? { if case .command(let command) = opening { command } else { nil } }

  /// The path of a file; nil for anything else.
  package var filePath: String? { if case .file(let path) = opening { path } else { nil } }
}

extension Source: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self.init(text) }
}

extension Source: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// As messages show it, without its secrets.
  public var description: String { shown }
  public var debugDescription: String { shown }
  public var customMirror: Mirror { Mirror(self, children: ["shown": shown]) }
}
