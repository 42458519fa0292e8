import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Puts secrets into a text: `${env:NAME}` and `${file:PATH}`; `$${` is `${`.
struct JobSecrets {
  let paths: JobPaths
  /// Looks up a variable of the environment.
  let environment: (String) -> String?

  private static let byteLimit = 64 << 10

  /// The text with what it refers to. No error says a value.
  /// - Parameter secrets: gets each value, with what stands for it in the text.
  /// - Throws: `usage` for what is not set or not understood, `unreadableInput` for a file.
  func expand(
    _ text: String, path: String, place: JobPlace, noting secrets: inout [String: String]
  ) throws(UpsurgeError) -> String {
    var expanded = ""
    var rest = text[...]
    while let start = rest.firstIndex(of: "$") {
      expanded += rest[..<start]
      rest = rest[start...]
      if rest.hasPrefix("$${") {
        expanded += "${"
        rest = rest.dropFirst(3)
      } else if rest.hasPrefix("${") {
        guard let end = rest.firstIndex(of: "}") else {
          throw place.error(path, "\(rest) has no }", hint: "write $${ for the text ${")
        }
        let name = rest[rest.index(start, offsetBy: 2)..<end]
        let value = try value(of: name, path: path, place: place)
        secrets[value] = "${\(name)}"
        expanded += value
        rest = rest[rest.index(after: end)...]
      } else {
        expanded.append("$")
        rest = rest.dropFirst()
      }
    }
    return expanded + rest
  }

  /// The same for a text that is shown nowhere.
  func expand(_ text: String, path: String, place: JobPlace) throws(UpsurgeError) -> String {
    var secrets: [String: String] = [:]
    return try expand(text, path: path, place: place, noting: &secrets)
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

  /// Nothing that could end a path or a header, and go on behind it.
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
