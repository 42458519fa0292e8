import UpsurgeRecords

/// What stands in the place of secrets that were put into sources, in every text that is shown or stored.
///
///     source  exec:mysql -phunter2 -e 'SELECT …'       as it is opened
///     shown   exec:mysql -p${env:PW} -e 'SELECT …'     as the job file has it
///
/// A URL, a command or a database goes by its shown name from the start: in positions, in the records of runs, in
/// rejects. The path of a file stays as it is where it is stored, as the file is found again by it. Texts that others
/// have made of a source (a server, a command, libcurl) are searched for the values.
package struct SecretMask: Sendable {
  /// The shown names of feeds, by what is opened.
  private var names: [String: String] = [:]
  /// What is looked for in texts, the longest first.
  private var words: [(secret: [UInt8], shown: [UInt8])] = []

  /// Shorter values are parts of many words; they are no secrets, and are left alone outside of names.
  private static let leastByteCount = 4

  /// Hides nothing.
  package init() {}

  /// - Parameters:
  ///   - sources: those of which other words are shown.
  ///   - values: what was put in, and what stands in the text for it: `${env:NAME}`.
  package init(sources: some Sequence<Source>, values: [String: String]) {
    for source in sources where source.isReworded {
      let (text, shown) = (source.opening.text, source.markedLabel)
      if source.isFeed { names[text] = shown }
      add(text, shown)
      add(SourceName.redacted(text), SourceName.redacted(shown))
    }
    for (value, shown) in values {
      add(value, shown)
      // As it stands inside the quotes of a shell, in a URL and in the host of one, and as some programs shout.
      let quoted = value.utf8.flatMap { $0 == UInt8(ascii: "'") ? Array(#"'\''"#.utf8) : [$0] }
      add(String(decoding: quoted, as: UTF8.self), shown)
      add(String(decoding: value.utf8.map(URLText.lowercased), as: UTF8.self), shown)
      add(value.uppercased(), shown)
      add(URLText.percentEncoded(value), shown)
    }
    sort()
  }

  /// Hides what any of them hides.
  package init(_ masks: [SecretMask]) {
    for mask in masks {
      names.merge(mask.names) { first, _ in first }
      words += mask.words
    }
    sort()
  }

  /// Hides also what a source has other words for.
  func hiding(_ source: Source) -> SecretMask {
    if !source.isReworded || names[source.opening.text] != nil { return self }
    return SecretMask([self, SecretMask(sources: [source], values: [:])])
  }

  package var isEmpty: Bool { names.isEmpty && words.isEmpty }

  /// The name of a source as it may be shown and stored; that of a file as it is.
  func name(_ source: String) -> String {
    SourceName.redacted(Source(source).isFeed ? names[source] ?? masked(source) : source)
  }

  /// A URL of any kind as it may be shown, also one that a server has sent.
  func shownURL(_ url: String) -> String { URLText.redacted(names[url] ?? masked(url)) }

  /// A text without the secrets.
  package func masked(_ text: String) -> String {
    words.isEmpty ? text : String(decoding: masked(Array(text.utf8)), as: UTF8.self)
  }

  /// Bytes without the secrets; what was put in is not searched again.
  func masked(_ bytes: [UInt8]) -> [UInt8] {
    if words.isEmpty { return bytes }
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      if let word = words.first(where: { bytes[index...].starts(with: $0.secret) }) {
        out += word.shown
        index += word.secret.count
      } else {
        out.append(bytes[index])
        index += 1
      }
    }
    return out
  }

  /// An error without them, wherever it has them.
  package func masked(_ error: UpsurgeError) -> UpsurgeError {
    if words.isEmpty { return error }
    var error = error
    error.said = error.said.map(masked)
    error.remedy = error.remedy?.map(masked)
    error.snippet = error.snippet.map(masked)
    if let file = error.position?.file { error.position?.file = masked(file) }
    return error
  }

  private mutating func add(_ secret: String, _ shown: String) {
    for (secret, shown) in [(secret, shown), (secret.escapedForTerminal, shown.escapedForTerminal)]
    where secret != shown && secret.utf8.count >= Self.leastByteCount {
      words.append((Array(secret.utf8), Array(shown.utf8)))
    }
  }

  private mutating func sort() { words.sort { $0.secret.count > $1.secret.count } }
}
