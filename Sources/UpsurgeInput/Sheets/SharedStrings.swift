import UpsurgeRecords

/// Reads the texts that cells name by their number.
struct SharedStrings: XMLVisitor {
  private(set) var failure: UpsurgeError?
  private var texts: SharedTexts
  private let name: String
  private let byteLimit: Int
  private var runs = TextRuns()

  init(name: String, byteLimit: Int, makeSpool: @escaping @Sendable () -> SpoolFile) {
    (self.name, self.byteLimit) = (name, byteLimit)
    texts = SharedTexts(name: name, byteLimit: byteLimit, makeSpool: makeSpool)
  }

  /// The texts, once all of them were read.
  mutating func finish() throws(UpsurgeError) -> SharedTexts {
    try texts.end()
    return texts
  }

  mutating func start(_ name: XMLName, _ attributes: XMLAttributes) -> XMLStep {
    if name == "si" { runs.begin() } else { runs.start(name, attributes) }
    return .goOn
  }

  mutating func end(_ name: XMLName) -> XMLStep {
    guard name == "si" else {
      runs.end(name)
      return .goOn
    }
    do {
      try texts.append(runs.finish())
      return .goOn
    } catch {
      failure = error
      return .stop
    }
  }

  mutating func text(_ text: UnsafeBufferPointer<UInt8>) -> XMLStep {
    runs.text(text)
    if runs.byteCount <= WorkbookFault.Share.row.limit(byteLimit) { return .goOn }
    failure = WorkbookFault.tooLarge(name, "the letters of a shared text", .row, byteLimit: byteLimit)
    return .stop
  }
}
