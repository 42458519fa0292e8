/// Rows of a database that a server holds: `postgres://user:password@host/db?sslmode=require#TABLE`, or
/// `postgres://host/db?query=SELECT …`.
///
/// What names the rows is spelled as for `sqlite:`, and is no part of the URL that the server's library is given. A query is the
/// rest of the text after `query=`, whatever it holds, so it comes last.
package struct ServerSource: Sendable, Hashable {
  /// The URL without what names the rows. Holds the password, so it is never shown.
  package let url: String
  package let rows: DatabaseSource.Rows

  package var isQuery: Bool {
    if case .query = rows { return true }
    return false
  }

  /// What stands before `://`.
  package var scheme: String { Self.scheme(of: url) }

  /// nil for a name of something else, and where the table or the query is missing.
  package init?(_ name: String) {
    guard Self.isServer(name) else { return nil }
    let (url, rows) = Self.split(name)
    guard let rows, url.utf8.count > Self.scheme(of: url).utf8.count + 3 else { return nil }
    (self.url, self.rows) = (url, rows)
  }

  private static let schemes = ["postgres", "postgresql"]

  /// Whether a text begins as the URL of a server whose rows are read.
  package static func isServer(_ text: String) -> Bool { schemes.contains { text.hasPrefix($0 + "://") } }

  /// What a misspelled URL of a server begins with: `POSTGRES://`, `postgresql:/`; nil for anything else. The rest may hold a password.
  package static func misspelling(_ text: String) -> String? {
    guard !isServer(text), let colon = text.firstIndex(of: ":"), schemes.contains(text[..<colon].lowercased()) else { return nil }
    let slashes = text[text.index(after: colon)...].prefix { $0 == "/" }
    return slashes.isEmpty ? nil : "\(text[...colon])\(slashes)"
  }

  fileprivate static func scheme(of url: String) -> String { String(url.prefix { $0 != ":" }) }

  /// A name of a server as it may be shown and stored: the URL without its credentials, and the rows.
  package static func redacted(_ name: String) -> String {
    let (url, _) = split(name)
    return URLText.redactedServer(url) + String(decoding: name.utf8.dropFirst(url.utf8.count), as: UTF8.self)
  }

  /// The URL of a name, and the rows that it names.
  fileprivate static func split(_ name: String) -> (url: String, rows: DatabaseSource.Rows?) {
    // A password may hold any mark.
    let start = URLText.endOfServerCredentials(name)
    let rest = name[start...]
    if let mark = ["?query=", "&query="].compactMap({ rest.firstRange(of: $0) }).min(by: {
      $0.lowerBound < $1.lowerBound
    }) {
      let query = String(rest[mark.upperBound...])
      return (String(name[..<mark.lowerBound]), query.allSatisfy(\.isWhitespace) ? nil : .query(query))
    }
    guard let mark = rest.lastIndex(of: "#") else { return (name, nil) }
    let table = String(rest[rest.index(after: mark)...])
    // Without a host before it, it is a part of a password that nobody can read.
    if table.contains("@"), !name[..<mark].contains("@"),
      name[..<mark].dropFirst(scheme(of: name).count + 3).contains(":")
    {
      return (name, nil)
    }
    return (String(name[..<mark]), table.isEmpty ? nil : .table(table))
  }
}

extension Source {
  /// A database of a server, and the rows of it that are named.
  package struct ServerParts {
    /// Holds the password, so it is never shown.
    package let url: String
    package let rows: DatabaseSource.Rows?

    /// What stands before `://`.
    package var scheme: String { ServerSource.scheme(of: url) }
  }

  /// The database of a server that the source is, or is of; nil for anything else.
  package var serverParts: ServerParts? {
    guard case .server(let text, _) = opening else { return nil }
    let (url, rows) = ServerSource.split(text)
    return ServerParts(url: url, rows: rows)
  }
}
