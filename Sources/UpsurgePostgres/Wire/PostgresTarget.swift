import CPostgres
import UpsurgeInput

/// A database that a URL names: `postgres://user:password@host:port/database?sslmode=require`.
///
/// What the URL leaves open comes from where libpq looks: PG… variables, a service file, `~/.pgpass`. The password is in no text
/// but the one that libpq is given.
package struct PostgresTarget: Sendable {
  /// The URL as it was given.
  let url: String
  /// As it may be shown and stored: `postgres://user@host/database`.
  package let shown: String
  private let mask: SecretMask

  private static let schemes = ["postgres://", "postgresql://"]

  /// nil for what is no URL of PostgreSQL.
  package init?(_ url: String) {
    guard Self.schemes.contains(where: url.hasPrefix) else { return nil }
    self.url = url
    shown = SourceName.redactedURL(url)
    mask = SecretMask(sources: [], values: Self.secrets(of: url, shown: shown))
  }

  /// A text of others without the URL and its password.
  package func masked(_ text: String) -> String { mask.masked(text) }

  /// What may not be seen, and what stands in its place. The URL is cut here as libpq cuts it, which may not be loaded yet.
  private static func secrets(of url: String, shown: String) -> [String: String] {
    var secrets = [url: shown]
    guard let mark = url.firstRange(of: "://") else { return secrets }
    let rest = url[mark.upperBound...]
    // A password that was not escaped may hold anything, so it ends at the last @ there is.
    if let at = rest.lastIndex(of: "@"), let colon = rest[..<at].firstIndex(of: ":") {
      let secret = rest[rest.index(after: colon)..<at]
      secrets[String(secret)] = "***"
      // libpq takes the parts of it for a port and a database then, and says so.
      for part in secret.split(whereSeparator: { "/?#@:,".contains($0) }) { secrets[String(part)] = "***" }
    }
    if let query = rest.firstIndex(of: "?") {
      for parameter in rest[rest.index(after: query)...].split(separator: "&") {
        let parts = parameter.split(separator: "=", maxSplits: 1)
        if parts.count == 2, ["password", "sslpassword"].contains(parts[0]) { secrets[String(parts[1])] = "***" }
      }
    }
    for (secret, shown) in secrets where secret.contains("%") && secret != url {
      secrets[unescaped(secret)] = shown
    }
    return secrets
  }

  /// The bytes that `%XX` stands for.
  private static func unescaped(_ text: String) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), rest.count >= 2,
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
