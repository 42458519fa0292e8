/// How much a transaction holds: `100000` records, `64MiB` of input, or what comes in `500ms`, `2s`, `1min`.
///
/// Records are counted exactly, but for those that are stored in the order of their key: a transaction holds at most so
/// many of them. Bytes and time are looked at after each batch.
public enum CommitInterval: Sendable, Hashable, CustomStringConvertible, ExpressibleByIntegerLiteral {
  /// 100,000 records; as many as `--memory` and `--wal-limit` let be sorted where keys arrive in no order.
  case auto
  case records(Int)
  /// Bytes of records, decompressed.
  case bytes(ByteSize)
  case milliseconds(Int)

  public init(integerLiteral count: Int) { self = .records(count) }

  /// - Returns: nil for what is no interval.
  public init?(text: String) {
    if text == "auto" {
      self = .auto
      return
    }
    let digits = text.prefix { ("0"..."9").contains($0) }
    guard let number = Int(digits) else { return nil }
    let units = ["ms": 1, "s": 1_000, "min": 60_000]
    if digits.count == text.count {
      self = .records(number)
    } else if let unit = units[String(text.dropFirst(digits.count))] {
      let (product, overflow) = number.multipliedReportingOverflow(by: unit)
      if overflow { return nil }
      self = .milliseconds(product)
    } else if let size = ByteSize(text: text) {
      self = .bytes(size)
    } else {
      return nil
    }
  }

  public var description: String {
    switch self {
    case .auto: "auto"
    case .records(let count): "\(count)"
    case .bytes(let size): size.byteCount % 1024 == 0 && size.byteCount > 0 ? "\(size)" : "\(size)B"
    case .milliseconds(let count):
      count > 0 && count % 1_000 == 0 ? "\(count / 1_000)s" : "\(count)ms"
    }
  }

  /// In words: `every 1000 records`.
  package var words: String {
    switch self {
    case .auto: "every \(Self.automaticCount) records"
    case .records(let count): "every \(count) records"
    case .bytes: "every \(self) of records"
    case .milliseconds: "every \(self)"
    }
  }

  package var isPositive: Bool {
    switch self {
    case .auto: true
    case .records(let count): count > 0
    case .bytes(let size): size.byteCount > 0
    case .milliseconds(let count): count > 0
    }
  }

  static let automaticCount = 100_000

  func set(_ settings: inout WriterSettings) {
    switch self {
    case .auto:
      settings.commitEvery.records = Self.automaticCount
      settings.sorting.recordLimit = .max
    case .records(let count): settings.commitEvery.records = count
    case .bytes(let size):
      settings.commitEvery.records = .max
      settings.commitEvery.bytes = size.byteCount
    case .milliseconds(let count):
      settings.commitEvery.records = .max
      settings.commitEvery.seconds = Double(count) / 1_000
    }
  }

  /// What the summary calls it.
  var setting: (name: String, value: UInt64) {
    switch self {
    case .auto: ("commit_every", UInt64(Self.automaticCount))
    case .records(let count): ("commit_every", UInt64(count))
    case .bytes(let size): ("commit_every_bytes", UInt64(size.byteCount))
    case .milliseconds(let count): ("commit_every_ms", UInt64(count))
    }
  }
}
