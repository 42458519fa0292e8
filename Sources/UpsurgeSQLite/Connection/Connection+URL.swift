import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension Connection {
  /// Refuses the name of a database that is a URL, a misspelled one of PostgreSQL, or keywords of libpq. It may hold a password, so only its scheme
  /// is shown.
  /// - Throws: `usage`.
  package static func checkURL(_ path: String) throws(UpsurgeError) {
    if path.hasPrefix("postgres://") || path.hasPrefix("postgresql://") {
      throw UpsurgeError(
        .usage, "the database is the URL of a PostgreSQL server, and this takes a file of SQLite",
        hint:
          "of a server's: upsurge load, upsurge inspect and upsurge runs. Its rejects: correct the source, and load it again by key"
      )
    }
    if access(path, F_OK) == 0 { return }
    if let server = ServerKeywords(path) {
      throw UpsurgeError(
        .usage, "the database is given by keywords of libpq, and would be a file of that name",
        hint: server.hasPassword
          ? "write \(server.url); PGPASSWORD or ~/.pgpass gives the password" : "write \(server.url)")
    }
    guard let scheme = urlScheme(of: path) else { return }
    throw UpsurgeError(
      .usage, "the database is a URL that begins with \(scheme), which is not known",
      hint:
        "a server is postgres://USER@HOST:PORT/DATABASE, in small letters; a file of SQLite is named by its path"
    )
  }

  /// What a URL begins with: `psql://` of `psql://host/db`, `Postgres:/` of `Postgres:/host`; nil for a path.
  static func urlScheme(of path: String) -> String? {
    guard let colon = path.firstIndex(of: ":"), colon != path.startIndex else { return nil }
    let (name, rest) = (path[..<colon], path[path.index(after: colon)...])
    guard name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }) else {
      return nil
    }
    if rest.hasPrefix("//") { return name + "://" }
    let isPostgres = ["postgres", "postgresql"].contains(name.lowercased())
    return isPostgres && rest.hasPrefix("/") ? name + ":/" : nil
  }
}
