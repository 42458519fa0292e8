/// What libpq takes in the place of a URL: `host=db dbname=shop`. Here it would be the name of a file.
struct ServerKeywords {
  /// What is given, by keyword.
  private var values: [String: String] = [:]

  /// Words that name a server, of which there is at least one.
  private static let naming: Set = ["host", "hostaddr", "port", "dbname", "user", "service"]
  /// Words that a URL says by its parts, or that nobody should write down.
  private static let parts: Set = ["host", "port", "dbname", "user", "password", "sslpassword"]
  private static let others: Set = [
    "password", "passfile", "sslmode", "sslcert", "sslkey", "sslpassword", "sslrootcert", "sslcrl",
    "requiressl", "connect_timeout",
    "application_name", "fallback_application_name", "options", "client_encoding", "target_session_attrs",
    "channel_binding",
    "gssencmode", "krbsrvname", "gsslib", "keepalives", "keepalives_idle", "keepalives_interval",
    "keepalives_count",
    "tcp_user_timeout", "load_balance_hosts", "require_auth", "requirepeer", "replication",
  ]

  /// nil for what is not one keyword with its value after the other.
  init?(_ text: String) {
    var rest = Array(text)[...]
    func skipSpaces() { rest = rest.drop(while: \.isWhitespace) }
    skipSpaces()
    while !rest.isEmpty {
      let word = String(rest.prefix { $0 != "=" && !$0.isWhitespace })
      rest = rest.dropFirst(word.count)
      skipSpaces()
      guard Self.naming.contains(word) || Self.others.contains(word), rest.popFirst() == "=" else {
        return nil
      }
      skipSpaces()
      guard let value = Self.value(&rest) else { return nil }
      values[word] = value
      skipSpaces()
    }
    if values.keys.allSatisfy({ !Self.naming.contains($0) }) { return nil }
  }

  /// A value, in quotes or up to the next space; a backslash takes the next letter as it is.
  private static func value(_ rest: inout ArraySlice<Character>) -> String? {
    let isQuoted = rest.first == "'"
    if isQuoted { rest.removeFirst() }
    var value = ""
    while let letter = rest.first, isQuoted ? letter != "'" : !letter.isWhitespace {
      rest.removeFirst()
      guard letter == "\\" else {
        value.append(letter)
        continue
      }
      guard let next = rest.popFirst() else { return nil }
      value.append(next)
    }
    if isQuoted, rest.popFirst() == nil { return nil }
    return value
  }

  var hasPassword: Bool { values["password"] != nil }

  /// The URL that says this, without a password.
  var url: String {
    var url = "postgres://"
    if let user = values["user"] { url += Self.escaped(user) + "@" }
    // A folder of sockets is no host of a URL.
    let host = values["host"].flatMap { $0.hasPrefix("/") ? nil : $0 }
    if let host { url += Self.escaped(host) }
    if let port = values["port"] { url += ":" + Self.escaped(port) }
    if let name = values["dbname"] { url += "/" + Self.escaped(name) }
    var rest = values.filter { !Self.parts.contains($0.key) }
    if host == nil, let folder = values["host"] { rest["host"] = folder }
    if rest.isEmpty { return url }
    let list = rest.sorted { $0.key < $1.key }.map { "\($0.key)=\(Self.escaped($0.value))" }
    return url + (values["dbname"] == nil ? "/?" : "?") + list.joined(separator: "&")
  }

  private static func escaped(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF")
    return text.utf8.map { byte in
      let letter = Character(UnicodeScalar(byte))
      let isPlain = letter.isASCII && (letter.isLetter || letter.isNumber || "-._~/,".contains(letter))
      return isPlain ? String(letter) : "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
    }.joined()
  }
}
