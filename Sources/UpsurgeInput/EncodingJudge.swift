/// Judges what a text is that is not UTF-8.
///
/// Each encoding that is common gives every distinct word with bytes beyond ASCII a likelihood: how often its language
/// has such a letter, and whether a letter is where one would be. (`cafŽ` has a capital inside a word, `Ñîñíà` five
/// accents in a row.) The sum over all words decides. Windows-1252 is chosen unless another encoding, which would read
/// the text otherwise, is clearly likelier. Then a person is asked. Only another encoding of western languages (a file
/// from Excel on a Mac) is read as what it is, and that is said.
struct EncodingJudge {
  /// What was found, and what is to be said about it.
  typealias Verdict = (encoding: TextEncoding, doubt: EncodingDoubt?)

  /// How much likelier another encoding must be (in nats), beside what it must make up for as it is less common.
  private static let margin = 1.5
  /// How much likelier (in nats) it must be where there are hardly any bytes to judge by.
  private static let sparseMargin = 4.0
  private static let sparseByteCount = 3
  /// Below that, on the average of its bytes, nobody can read a text.
  private static let senseless = -7.5
  /// The least average where another alphabet, or another half of Europe, is claimed for a text.
  private static let implausible = -5.0
  /// The least average for a character of Chinese, Japanese or Korean, of which there are thousands.
  private static let implausibleWide = -8.5
  /// What is so far from the likeliest is not offered.
  private static let offered = 25.0

  /// How well an encoding reads the text.
  private struct Reading {
    var name: String
    var family: SingleByteCandidate.Family
    var score: Double
    /// Whether somebody could have written that.
    var isPlausible: Bool
  }

  private let text: UnsafeRawBufferPointer
  private let words: HighWords
  private var readings: [Reading] = []

  /// - Parameter census: of the same text.
  static func judge(_ text: UnsafeRawBufferPointer, census: UTF8Census) -> Verdict {
    guard let judge = EncodingJudge(text) else { return (.windows1252, nil) }
    return judge.verdict(census)
  }

  /// - Returns: nil where iconv does not even know Windows-1252.
  private init?(_ text: UnsafeRawBufferPointer) {
    guard let usual = CodeTable("windows-1252") else { return nil }
    self.text = text
    words = HighWords(of: text)
    let candidate = SingleByteCandidate.windows1252
    var tables = [usual]
    add(candidate, usual)
    for candidate in SingleByteCandidate.others {
      guard let table = CodeTable(candidate.name), !tables.contains(where: { table.reads(words, like: $0) }) else {
        continue
      }
      tables.append(table)
      add(candidate, table)
    }
    for candidate in DoubleByteCandidate.all {
      let (score, count) = candidate.score(words)
      readings.append(
        Reading(
          name: candidate.name, family: .other, score: score,
          isPlausible: score > Self.implausibleWide * Double(count)))
    }
  }

  private mutating func add(_ candidate: SingleByteCandidate, _ table: CodeTable) {
    let score = candidate.score(words, table)
    readings.append(
      Reading(
        name: candidate.name, family: candidate.family, score: score,
        isPlausible: score > Self.implausible * Double(words.byteCount)))
  }

  private func verdict(_ census: UTF8Census) -> Verdict {
    let own = readings[0].score
    let ranked = readings.sorted { $0.score > $1.score }
    let isSparse = words.byteCount <= Self.sparseByteCount
    let best = ranked[0]
    if best.family != .western, best.score > own + (isSparse ? Self.sparseMargin : Self.margin) {
      if best.isPlausible && !(isSparse && best.family == .latin) { return (.windows1252, doubt(among: ranked)) }
    }
    let western = ranked.filter { $0.family == .western }
    if western[0].score > own + Self.margin {
      guard western[0].score > western[1].score + Self.margin, let encoding = TextEncoding(name: western[0].name)
      else { return (.windows1252, doubt(among: ranked)) }
      let names = [western[0].name, "windows-1252"]
      return (encoding, EncodingDoubt(names: names, of: text, lineAt: words.richestLine, reads: western[0].name))
    }
    // Lines of both kinds, as in files that were joined.
    if census.sequenceCount > 1 && census.sequenceCount * 8 >= census.badByteCount {
      return (.windows1252, EncodingDoubt(names: ["utf-8", "windows-1252"], of: text, lineAt: words.richestLine))
    }
    if !isSparse && own < Self.senseless * Double(words.byteCount) {
      return (.windows1252, EncodingDoubt(names: [], of: text, lineAt: words.richestLine))
    }
    // Close, as in a Hungarian text with one ő, which is õ in windows-1252.
    if best.family != .western, best.isPlausible, best.score > own {
      let names = ["windows-1252", best.name]
      return (.windows1252, EncodingDoubt(names: names, of: text, lineAt: words.richestLine, reads: "windows-1252"))
    }
    return (.windows1252, nil)
  }

  private func doubt(among ranked: [Reading]) -> EncodingDoubt {
    let likely = ranked.filter { $0.score > ranked[0].score - Self.offered }.map(\.name)
    return EncodingDoubt(names: likely, of: text, lineAt: words.richestLine)
  }
}

/// The distinct words of a text that have bytes beyond ASCII.
struct HighWords {
  /// Letters, digits and bytes beyond ASCII, and the byte after them, which may be the second of a character.
  private(set) var words: [(bytes: [UInt8], next: UInt8)] = []
  /// Bytes beyond ASCII in all of them.
  private(set) var byteCount = 0
  /// Which bytes there are, from 80 on.
  private(set) var occurs = [Bool](repeating: false, count: 128)
  /// Where the line with the most bytes beyond ASCII starts, among the first ones.
  private(set) var richestLine = 0

  private static let wordLimit = 2_000
  private static let wordByteLimit = 200

  init(of text: UnsafeRawBufferPointer) {
    var seen: Set<[UInt8]> = []
    var position = 0
    var lineStart = 0
    var (lineCount, most) = (0, 0)
    while position < text.count && words.count < Self.wordLimit {
      let byte = text[position]
      if byte == 0x0A || byte == 0x0D {
        (lineStart, lineCount) = (position + 1, 0)
      }
      guard Self.isPart(byte) else {
        position += 1
        continue
      }
      let start = position
      var highCount = 0
      while position < text.count, Self.isPart(text[position]) {
        if text[position] >= 0x80 { highCount += 1 }
        position += 1
      }
      if highCount == 0 { continue }
      lineCount += highCount
      if lineCount > most && seen.count < 200 { (richestLine, most) = (lineStart, lineCount) }
      let word = Array(text[start..<min(position, start + Self.wordByteLimit)])
      guard seen.insert(word).inserted else { continue }
      for byte in word where byte >= 0x80 {
        occurs[Int(byte) - 0x80] = true
        byteCount += 1
      }
      words.append((word, position < text.count ? text[position] : 0))
    }
  }

  private static func isPart(_ byte: UInt8) -> Bool {
    byte >= 0x80 || (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte)
  }
}

/// What the bytes from 80 on are in an encoding of one byte a character.
struct CodeTable {
  /// nil: none.
  let scalars: [Unicode.Scalar?]

  init?(_ name: String) {
    guard let known = IconvConverter.knownName(name), let converter = IconvConverter(known) else { return nil }
    var scalars: [Unicode.Scalar?] = []
    var output = [UInt8](repeating: 0, count: 2 * IconvConverter.leastOutputByteCount)
    for byte in UInt8(0x80)...0xFF {
      let count = output.withUnsafeMutableBytes { output in
        let step = withUnsafeBytes(of: byte) { converter.convert($0, into: output) }
        // A letter that waits for a mark.
        return step.produced
          + converter.finish(into: UnsafeMutableRawBufferPointer(rebasing: output[step.produced...]))
      }
      let text = String(validating: output[..<count], as: UTF8.self)
      let scalar = text?.unicodeScalars.first
      scalars.append(scalar.map { (0x80..<0xA0).contains($0.value) } == true ? nil : scalar)
    }
    self.scalars = scalars
  }

  /// Whether words are the same texts in both.
  func reads(_ words: HighWords, like other: CodeTable) -> Bool {
    scalars.indices.allSatisfy { !words.occurs[$0] || scalars[$0] == other.scalars[$0] }
  }
}
