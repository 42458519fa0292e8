/// What files hold, as far as it must be known to find one again that was read before; each is looked at once.
struct FileContents {
  private let files: Set<String>
  private let places: [UInt64: [String]]
  private var identities: [String: FileIdentity?] = [:]

  /// Smaller files may be alike by chance: a header and nothing else.
  private static let leastByteCount: UInt64 = 4_096

  init(_ sources: [Source]) {
    files = Set(sources.filter { $0.kind == .file }.map(\.place))
    places = Dictionary(grouping: files) { FileIdentity.byteCount(ofPath: $0) ?? .max }
  }

  /// Whether one of the files is this one: the same at its place, or the same content elsewhere.
  mutating func has(
    _ identity: FileIdentity, at place: String, elsewhere: Bool
  ) throws(UpsurgeError) -> Bool {
    if files.contains(place), try identity.isStill(Source(file: place)) { return true }
    guard elsewhere, identity.byteCount >= Self.leastByteCount else { return false }
    for other in places[identity.byteCount] ?? [] where other != place {
      if try self.identity(of: other)?.isSame(as: identity) ?? false { return true }
    }
    return false
  }

  private mutating func identity(of place: String) throws(UpsurgeError) -> FileIdentity? {
    if let known = identities[place] { return known }
    let found = try FileSource(Source(file: place)).identity()
    identities[place] = found
    return found
  }
}
