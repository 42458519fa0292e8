import UpsurgeRecords

/// Delimiter, quote and escape character.
extension Sniffing {
  /// Delimiters that are tried, with how readily each is believed.
  static let delimiters: [(byte: UInt8, weight: Double)] = [
    (UInt8(ascii: ","), 1), (UInt8(ascii: ";"), 1), (UInt8(ascii: "\t"), 1), (UInt8(ascii: "|"), 1),
    (0x1F, 0.95), (0x01, 0.95), (UInt8(ascii: "^"), 0.7), (UInt8(ascii: "~"), 0.7), (UInt8(ascii: " "), 0.6),
    (UInt8(ascii: ":"), 0.5),
  ]
  /// One column is believed less than several from which a quarter of the records depart.
  private static let singleColumnWeight = 0.75
  private static let doubleQuote = UInt8(ascii: "\"")
  private static let singleQuote = UInt8(ascii: "'")
  private static let backslash = UInt8(ascii: "\\")

  private struct Candidate {
    var dialect: CSVDialect
    var score: Double
  }

  /// The best of all sensible marks. Rarer ones must be clearly better than usual ones.
  mutating func chooseMarks() -> CSVDialect {
    var base = CSVDialect(
      nullSpellings: given.nullSpellings, ragged: given.ragged,
      skippedLineCount: given.skippedLineCount ?? 0)
    (base.quotes, base.bareEmpty) = (given.quotes, given.bareEmpty)
    if let prefix = given.commentPrefix, !prefix.isEmpty { base.commentPrefix = prefix }

    let excerpt = self.excerpt()
    var best = Candidate(dialect: base, score: -1)
    var candidates: [Candidate] = []
    for (delimiter, weight) in excerpt.delimitersToTry() {
      base.delimiter = delimiter
      var candidate = Candidate(dialect: base, score: -1)
      excerpt.tryQuotes(base, weight, &candidate)
      candidates.append(candidate)
      if candidate.score > best.score { best = candidate }
    }
    if excerpt.isDoubled(best.dialect) { best.dialect.delimiter += best.dialect.delimiter }
    if let doubt = excerpt.doubt(of: best, among: candidates) { doubts.append(doubt) }
    best.dialect.escaping = escaping(of: best.dialect)
    return best.dialect
  }

  /// Says where another delimiter is nearly as likely.
  private func doubt(of best: Candidate, among candidates: [Candidate]) -> Wording? {
    let others = candidates.filter { other in
      let isClose = other.score >= Self.closeShare * best.score
      let isUsual = Self.delimiters.prefix(4).contains { [$0.byte] == other.dialect.delimiter }
      guard other.dialect.delimiter != best.dialect.delimiter, isClose || isUsual else { return false }
      let sample = read(other.dialect)
      let shape = sample.shape(ignoringHashes: false)
      // Where it parts each record alike, the header too, it is not the comma of decimals.
      let partsAll = isUsual && shape.consistency == 1 && shape.recordCount > 2 && sample.brokenCount == 0
      return shape.fieldCount > 1 && (isClose || partsAll)
    }
    guard let second = others.max(by: { $0.score < $1.score }) else { return oneColumnDoubt(of: best, among: candidates) }
    let name = CSVDialect.name(of: second.dialect.delimiter)
    return "the delimiter is uncertain: \(CSVDialect.name(of: best.dialect.delimiter)) fits best, and \(name) nearly as "
      + "well; \(.delimiter, name) reads it so"
  }

  /// Says where each line is one field, and another delimiter would part most of them.
  private func oneColumnDoubt(of best: Candidate, among candidates: [Candidate]) -> Wording? {
    guard given.delimiter == nil, read(best.dialect).shape(ignoringHashes: false).fieldCount == 1 else { return nil }
    for other in candidates where other.dialect.delimiter != best.dialect.delimiter && other.score * 2 >= best.score {
      let shape = read(other.dialect).shape(ignoringHashes: false)
      if shape.fieldCount > 1 && shape.recordCount > 2 && shape.consistency >= 0.6 {
        let name = CSVDialect.name(of: other.dialect.delimiter)
        return "each line is read as one field; \(.delimiter, name) makes \(shape.fieldCount) fields of most lines"
      }
    }
    return nil
  }

  /// Whether each delimiter stands there twice: every second field of all records is empty.
  private func isDoubled(_ dialect: CSVDialect) -> Bool {
    guard given.delimiter == nil, dialect.delimiter.count == 1 else { return false }
    let sample = read(dialect)
    guard sample.records.count > 1 else { return false }
    return sample.records.allSatisfy { record in
      record.fields.count > 2 && record.fields.count % 2 == 1
        && record.fields.allSatisfy { index in
          (index - record.fields.lowerBound) % 2 == 0
            || sample.fields[index].start == sample.fields[index].stop && !sample.fields[index].isQuoted
        }
    }
  }

  /// A reading with so much of the best one's score could be meant as well.
  private static let closeShare = 0.93

  /// What the escape character does: a writer that only escapes quotes leaves it alone before other bytes.
  private func escaping(of dialect: CSVDialect) -> CSVDialect.Escaping {
    if given.escape != nil { return given.escaping }
    guard let escape = dialect.distinctEscape else { return .any }
    var at = bytes.startIndex
    while at + 1 < bytes.count {
      guard bytes[at] == escape else {
        at += 1
        continue
      }
      let next = bytes[at + 1]
      let isEscaped = next == escape || next == dialect.quote || next == dialect.delimiter[0] || next == 0x0A || next == 0x0D
      if !isEscaped { return .marks }
      at += 2
    }
    return .any
  }

  /// As much of the sample as is needed to tell the marks: some hundred lines.
  private func excerpt() -> Sniffing {
    var limit = 16 << 10
    let start = hashBlockByteCount()
    // Where it would end within quotes, the lines that it ends with are no records: of a long text, as a rule.
    while bytes.count - start > limit, bytes.dropFirst(start).prefix(limit).count(where: { $0 == Self.doubleQuote }) % 2 == 1 {
      limit *= 4
    }
    guard bytes.count - start > limit else { return start == 0 ? self : without(firstBytes: start) }
    let prefix = UnsafeBufferPointer(rebasing: bytes.dropFirst(start).prefix(limit))
    let lineCount = prefix.count { $0 == 0x0A || $0 == 0x0D }
    return lineCount < 100 ? self : Sniffing(bytes: prefix, isWhole: false, given: given)
  }

  /// Bytes of the lines with `#` above all others, but for the last of them, which may be a header.
  private func hashBlockByteCount() -> Int {
    if given.commentPrefix != nil { return 0 }
    var (at, last) = (0, 0)
    while at < bytes.count, bytes[at] == UInt8(ascii: "#") {
      last = at
      guard let end = bytes[at...].firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) else { return last }
      at = end + 1
      if at < bytes.count && bytes[end] == 0x0D && bytes[at] == 0x0A { at += 1 }
    }
    return last
  }

  private func without(firstBytes count: Int) -> Sniffing {
    Sniffing(bytes: UnsafeBufferPointer(rebasing: bytes.dropFirst(count)), isWhole: isWhole, given: given)
  }

  /// Tries the quotes that may go with a delimiter and keeps the best.
  private func tryQuotes(_ base: CSVDialect, _ weight: Double, _ best: inout Candidate) {
    func attempt(_ quote: UInt8?, _ preference: Double) -> SampleRecords {
      var dialect = base
      dialect.quote = quote
      let sample = read(dialect)
      let escapes = escapesToTry(quote: quote, delimiter: base.delimiter)
      for escape in escapes {
        dialect.escape = escape
        // What is unusual must explain more than what is usual.
        let score = weight * preference * (escape == nil ? 1 : 0.995)
          * self.score(escape == nil ? sample : read(dialect))
        if score > best.score { best = Candidate(dialect: dialect, score: score) }
      }
      return sample
    }
    if let quote = given.quote {
      _ = attempt(quote.byte, 1)
      return
    }
    let usual = attempt(Self.doubleQuote, 1)
    // One broken record in a small file must not make the quotes of all others data.
    if usual.brokenCount > 0 && given.quotes == .strict { _ = attempt(nil, bareWeight(usual, base.delimiter)) }
    if mayQuote(Self.singleQuote, base.delimiter) { _ = attempt(Self.singleQuote, 0.97) }
  }

  /// How readily quotes that do not fit are taken for data. Where fields stand in quotes, or only a few do not fit, those
  /// are damaged; in text that tabs part, quotes need no meaning.
  private func bareWeight(_ usual: SampleRecords, _ delimiter: [UInt8]) -> Double {
    if hasEnclosedField(usual) { return 0.6 }
    return usual.brokenCount < 3 && delimiter != [0x09] ? 0.4 : 0.97
  }

  private func hasEnclosedField(_ sample: SampleRecords) -> Bool { sample.fields.contains(where: \.isQuoted) }

  /// Whether a quote stands at the start of any field.
  private func mayQuote(_ quote: UInt8, _ delimiter: [UInt8]) -> Bool {
    if bytes.first == quote { return true }
    return zip(bytes, bytes.dropFirst()).contains {
      $1 == quote && ($0 == delimiter.last || $0 == 0x0A || $0 == 0x0D)
    }
  }

  private func delimitersToTry() -> [(bytes: [UInt8], weight: Double)] {
    if let delimiter = given.delimiter { return [(delimiter, 1)] }
    let lineCount = bytes.count { $0 == 0x0A || $0 == 0x0D }
    // What most lines lack does not part their fields.
    let outside = countsOutsideQuotes()
    let outsideLineCount = outside[0x0A] + outside[0x0D]
    let present = Self.delimiters.filter { delimiter in
      let count = bytes.count { $0 == delimiter.byte }
      let outsideCount = outside[Int(delimiter.byte)]
      return count > 0 && count * 8 >= lineCount || outsideCount > 0 && outsideCount * 8 >= outsideLineCount
    }.map { ([$0.byte], $0.weight) }
    // One column: any mark that parts nothing will do, the usual ones first.
    let absent = Self.delimiters.first { !bytes.contains($0.byte) }?.byte ?? 0x02
    return present + [([absent], Self.singleColumnWeight)]
  }

  /// How often each byte stands outside of double quotes, for one quoted text may have more lines than there are records.
  private func countsOutsideQuotes() -> [Int] {
    var counts = [Int](repeating: 0, count: 256)
    var isQuoted = false
    for byte in bytes {
      if byte == Self.doubleQuote { isQuoted.toggle() }
      if !isQuoted { counts[Int(byte)] += 1 }
    }
    return counts
  }

  private func escapesToTry(quote: UInt8?, delimiter: [UInt8]) -> [UInt8?] {
    if let escape = given.escape { return [escape.byte] }
    guard let quote else { return [nil] }
    let isSeen = zip(bytes, bytes.dropFirst()).contains {
      $0 == Self.backslash && ($1 == quote || $1 == delimiter.first)
    }
    return isSeen ? [nil, Self.backslash] : [nil]
  }

  /// How sensible the sample looks as it was read, 0...1.
  private func score(_ sample: SampleRecords) -> Double {
    let shape = sample.shape(ignoringHashes: sample.hasHashComments)
    guard shape.recordCount > 0 else { return 0 }
    let brokenShare = Double(sample.brokenCount) / Double(sample.records.count)
    // More columns are a little more convincing, because they agree by chance less often.
    let width = 1 - 1 / Double(shape.fieldCount + 3)
    return shape.consistency * looks(of: sample) * width * (1 - brokenShare)
  }

  /// The mean look of the fields of the first records.
  private func looks(of sample: SampleRecords) -> Double {
    var sum = 0.0
    var count = 0
    let ignoresHashes = sample.hasHashComments
    for record in sample.records.prefix(200) where count < 4000 && !(ignoresHashes && record.startsWithHash) {
      for index in record.fields {
        let field = sample.fields[index]
        count += 1
        sum += field.isQuoted ? 1 : CellLook(bytes[field.start..<field.stop]).score
      }
    }
    return count == 0 ? 0.2 : sum / Double(count)
  }
}
