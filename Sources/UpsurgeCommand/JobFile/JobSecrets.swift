import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Puts secrets into a text: `${env:NAME}` and `${file:PATH}`; `$${` is `${`.
///
///     https://h/a?key=${env:KEY}        https://h/a?key=hunter2, encoded for its place (see `URLPlace`)
///     exec:mysql -p${env:PW} shop       exec:mysql -p"${UPSURGE_SECRET_1}" shop, and the variable in its environment
struct JobSecrets {
  let paths: JobPaths
  /// Looks up a variable of the environment.
  let environment: (String) -> String?

  private static let byteLimit = 64 << 10

  /// What a text refers to.
  struct Found {
    /// Each value, with what stands for it in the text.
    var shown: [String: String] = [:]
    /// Values that commands refer to, by the variables of their environment.
    var environment: [String: String] = [:]

    /// The variable that holds a value.
    mutating func variable(for value: String) -> String {
      if let known = environment.first(where: { $0.value == value })?.key { return known }
      let name = "UPSURGE_SECRET_\(environment.count + 1)"
      environment[name] = value
      return name
    }
  }

  /// The text with what it refers to. After `exec:` a value is never a part of what the shell reads: the text refers to
  /// a variable there, which holds it. No error says a value.
  /// - Throws: `usage` for what is not set or not understood, `unreadableInput` for a file.
  func expand(
    _ text: String, path: String, place: JobPlace, noting found: inout Found
  ) throws(UpsurgeError) -> String {
    var expanded = ""
    var shell = ShellText()
    // What a value brings before it says `exec:` is the command that somebody has put there as a whole.
    func take(_ piece: some StringProtocol) {
      expanded += piece
      shell.read(piece)
    }
    var rest = text[...]
    while let start = rest.firstIndex(of: "$") {
      take(rest[..<start])
      rest = rest[start...]
      if rest.hasPrefix("$${") {
        take("${")
        rest = rest.dropFirst(3)
      } else if rest.hasPrefix("${") {
        guard let end = rest.firstIndex(of: "}") else {
          throw place.error(path, "\(rest) has no }", hint: "write $${ for the text ${")
        }
        let name = rest[rest.index(start, offsetBy: 2)..<end]
        let value = try value(of: name, path: path, place: place)
        found.shown[value] = "${\(name)}"
        if Source(expanded).kind != .command {
          let encoded = URLPlace.encoded(value, after: expanded, before: rest[rest.index(after: end)...])
          found.shown[encoded] = "${\(name)}"
          take(encoded)
        } else {
          try check(shell, name, path: path, place: place)
          expanded += shell.reference(to: found.variable(for: value))
          shell.passReference()
        }
        rest = rest[rest.index(after: end)...]
      } else {
        take("$")
        rest = rest.dropFirst()
      }
    }
    return expanded + rest
  }

  /// - Throws: `usage` for a place in a command where nothing can refer to a variable.
  private func check(
    _ shell: ShellText, _ name: Substring, path: String, place: JobPlace
  ) throws(UpsurgeError) {
    if shell.followsBackslash {
      throw place.error(path, "a backslash before ${\(name)}", hint: "write $${ for the text ${")
    }
    if shell.isInDocument {
      throw place.error(
        path, "${\(name)} in a here-document (<<), where it could end the quotes around it",
        hint: "let printf write the lines: printf '%s\\n' ${\(name)} | COMMAND")
    }
  }

  /// Replaces references as ``expand(_:path:place:noting:)`` does, in a text that is shown nowhere.
  func expand(_ text: String, path: String, place: JobPlace) throws(UpsurgeError) -> String {
    var found = Found()
    return try expand(text, path: path, place: place, noting: &found)
  }

  private func value(of name: Substring, path: String, place: JobPlace) throws(UpsurgeError) -> String {
    if name.hasPrefix("env:") {
      let variable = String(name.dropFirst(4))
      guard let value = environment(variable) else {
        throw place.error(
          path, "the environment variable \(variable) is not set", hint: "set it for whoever runs the job")
      }
      if value.isEmpty { throw place.error(path, "the environment variable \(variable) is empty") }
      return try checked(value, what: "the environment variable \(variable)", path: path, place: place)
    }
    if name.hasPrefix("file:"), name.utf8.count > 5 {
      return try read(paths.resolve(String(name.dropFirst(5))), path: path, place: place)
    }
    throw place.error(
      path, "${\(name)} means nothing; known: ${env:NAME}, ${file:PATH}", hint: "write $${ for the text ${")
  }

  /// The file without the line end at its end.
  private func read(_ file: String, path: String, place: JobPlace) throws(UpsurgeError) -> String {
    let bytes: [UInt8]?
    do throws(UpsurgeError) {
      bytes = try SmallFile.read(file, limit: Self.byteLimit)
    } catch {
      throw place.error(path, error.message, hint: error.hint, code: error.code)
    }
    guard var bytes else {
      throw place.error(path, "the file \(file) is larger than 64 KiB, which no secret is")
    }
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw place.error(path, "the file \(file) is not UTF-8")
    }
    if text.isEmpty { throw place.error(path, "the file \(file) is empty") }
    return try checked(text, what: "the file \(file)", path: path, place: place)
  }

  /// Nothing that could end a path or a header, and go on after it.
  private func checked(
    _ value: String, what: String, path: String, place: JobPlace
  ) throws(UpsurgeError) -> String {
    if value.utf8.contains(where: { $0 == 0 || $0 == 0x0A || $0 == 0x0D }) {
      throw place.error(path, "\(what) holds a line end or a NUL", hint: "a secret is one line")
    }
    return value
  }
}

/// Files that are read whole.
enum SmallFile {
  /// - Returns: nil for one that is larger than `limit` bytes.
  /// - Throws: `unreadableInput`.
  static func read(_ path: String, limit: Int) throws(UpsurgeError) -> [UInt8]? {
    let source = try FileSource(name: path)
    var bytes: [UInt8] = []
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    defer { buffer.deallocate() }
    while true {
      let count = try source.read(into: buffer)
      if count == 0 { return bytes }
      bytes += buffer.prefix(count)
      if bytes.count > limit { return nil }
    }
  }
}
