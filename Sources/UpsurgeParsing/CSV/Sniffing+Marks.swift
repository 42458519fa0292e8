import UpsurgeRecords

/// Delimiter, quote and escape character.
extension Sniffing {
  /// Delimiters that are tried, with how readily each is believed.
  static let delimiters: [(byte: UInt8, weight: Double)] = [
    (UInt8(ascii: ","), 1), (UInt8(ascii: ";"), 1), (UInt8(ascii: "\t"), 1), (UInt8(ascii: "|"), 1),
    (0x1F, 0.95), (0x01, 0.95), (UInt8(ascii: "^"), 0.7), (UInt8(ascii: "~"), 0.7), (UInt8(ascii: " "), 0.6),
    (UInt8(ascii: ":"), 0.5),
  ]
  /// One column is believed less than several of which a quarter of the records depart.
  private static let singleColumnWeight = 0.75
  private static let doubleQuote = UInt8(ascii: "\"")
  private static let singleQuote = UInt8(ascii: "'")
  private static let backslash = UInt8(ascii: "\\")

  private struct Candidate {
    var dialect: CSVDialect
    var score: Double
  }

  /// The best of all sensible marks. Rarer ones must be clearly better than usual ones.
  func chooseMarks() -> CSVDialect {
    var base = CSVDialect(
      nullSpellings: given.nullSpellings, ragged: given.ragged,
      skippedLineCount: given.skippedLineCount ?? 0)
    if let prefix = given.commentPrefix, !prefix.isEmpty { base.commentPrefix = prefix }

    var best: Candidate?
    for (delimiter, weight) in delimitersToTry() {
      for quote in quotesToTry() {
        for escape in escapesToTry(quote: quote, delimiter: delimiter) {
          var dialect = base
          dialect.delimiter = delimiter
          dialect.quote = quote
          dialect.escape = escape
          var score = weight * self.score(dialect)
          // What is unusual must explain more than what is usual.
          if quote == Self.singleQuote || quote == nil { score *= 0.97 }
          if quote == nil && hasEnclosedField(dialect) { score *= 0.6 }
          if escape != nil { score *= 0.995 }
          if score > best?.score ?? -1 { best = Candidate(dialect: dialect, score: score) }
        }
      }
    }
    return best?.dialect ?? base
  }

  private func delimitersToTry() -> [(bytes: [UInt8], weight: Double)] {
    if let delimiter = given.delimiter { return [(delimiter, 1)] }
    let present = Self.delimiters.filter { bytes.contains($0.byte) }.map { ([$0.byte], $0.weight) }
    // One column: any mark that parts nothing will do, the usual ones first.
    let absent = Self.delimiters.first { !bytes.contains($0.byte) }?.byte ?? 0x02
    return present + [([absent], Self.singleColumnWeight)]
  }

  private func quotesToTry() -> [UInt8?] {
    if let quote = given.quote { return [quote.byte] }
    var quotes: [UInt8?] = [Self.doubleQuote]
    if bytes.contains(Self.singleQuote) { quotes.append(Self.singleQuote) }
    if bytes.contains(Self.doubleQuote) { quotes.append(nil) }
    return quotes
  }

  private func escapesToTry(quote: UInt8?, delimiter: [UInt8]) -> [UInt8?] {
    if let escape = given.escape { return [escape.byte] }
    guard let quote else { return [nil] }
    let isSeen = zip(bytes, bytes.dropFirst()).contains {
      $0 == Self.backslash && ($1 == quote || $1 == delimiter.first)
    }
    return isSeen ? [nil, Self.backslash] : [nil]
  }

  /// How sensible the sample looks when it is read so, 0...1.
  private func score(_ dialect: CSVDialect) -> Double {
    let sample = read(dialect)
    let hashCount = sample.records.count { $0.startsWithHash }
    let shape = sample.shape(ignoringHashes: hashCount * 2 < sample.records.count)
    guard shape.recordCount > 0 else { return 0 }
    let brokenShare = Double(sample.brokenCount) / Double(sample.records.count)
    // More columns are a little more convincing, because they agree by chance less often.
    let width = 1 - 1 / Double(shape.fieldCount + 3)
    return shape.consistency * looks(of: sample) * width * (1 - brokenShare)
  }

  /// Whether a field stands in double quotes although the dialect has none: one broken record in a small file
  /// must not make the quotes of all others data.
  private func hasEnclosedField(_ dialect: CSVDialect) -> Bool {
    read(dialect).fields.contains { field in
      field.stop - field.start >= 2 && bytes[field.start] == Self.doubleQuote
        && bytes[field.stop - 1] == Self.doubleQuote
    }
  }

  /// The mean look of the fields of the first records.
  private func looks(of sample: SampleRecords) -> Double {
    var sum = 0.0
    var count = 0
    for record in sample.records.prefix(200) {
      for index in record.fields {
        let field = sample.fields[index]
        count += 1
        sum += field.isQuoted ? 1 : CellLook(bytes[field.start..<field.stop]).score
      }
    }
    return count == 0 ? 0.2 : sum / Double(count)
  }
}
