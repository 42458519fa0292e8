/// What files hold, as far as it must be known to find one again that was read before; each is looked at once.
struct FileContents {
  private let names: [String: String]
  private let places: [UInt64: [String]]
  private var identities: [String: FileIdentity?] = [:]

  /// Smaller files may be alike by chance: a header and nothing else.
  private static let leastByteCount: UInt64 = 4_096

  init(_ names: [String]) {
    let places = names.filter { !SourceName.isStandardInput($0) && !SourceName.isFeed($0) }.map {
      (SourceName.place(of: $0), $0)
    }
    self.names = Dictionary(places, uniquingKeysWith: { first, _ in first })
    self.places = Dictionary(grouping: self.names.keys) { FileIdentity.byteCount(ofPath: $0) ?? .max }
  }

  /// Whether one of the files is this one: the same at its place, or the same content elsewhere.
  mutating func has(
    _ identity: FileIdentity, at place: String, elsewhere: Bool
  ) throws(UpsurgeError) -> Bool {
    if names[place] != nil, try identity.isStill(atPath: place) { return true }
    guard elsewhere, identity.byteCount >= Self.leastByteCount else { return false }
    for other in places[identity.byteCount] ?? [] where other != place {
      if try self.identity(of: other)?.isSame(as: identity) ?? false { return true }
    }
    return false
  }

  private mutating func identity(of place: String) throws(UpsurgeError) -> FileIdentity? {
    if let known = identities[place] { return known }
    let found = try FileSource(name: place).identity()
    identities[place] = found
    return found
  }
}
