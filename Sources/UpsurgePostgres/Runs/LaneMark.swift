import UpsurgeRecords
import UpsurgeState

/// How far one of several connections of a run has come: it has stored all of its records up to one of the input.
///
/// The mark belongs to a `seal`, a time at which the run's own position was written down. One of an earlier seal says nothing: the
/// run's position has come as far since.
struct LaneMark: Sendable, Equatable {
  var seal: UInt64
  var sourceIndex = 0
  /// The number of the record in its source; 0 for none.
  var record: UInt64 = 0
  /// Where that record ends in its source; nil where that is not known.
  var endByte: UInt64?

  /// Whether the connection is done with a record.
  func covers(_ number: UInt64, sourceIndex: Int) -> Bool {
    (sourceIndex, number) <= (self.sourceIndex, record)
  }

  /// As its row has it: the seal, the source, the record, and where that ends.
  var text: String { "\(seal) \(sourceIndex) \(record) \(endByte.map { "\($0)" } ?? "-")" }

  init(seal: UInt64) { self.seal = seal }

  init(seal: UInt64, _ batch: borrowing Batch, record index: Int) {
    let last = InputPlace.Record(batch, record: index)
    (self.seal, sourceIndex, self.record, endByte) = (seal, last.sourceIndex, last.number ?? 0, last.nextByte)
  }

  /// - Throws: `database` for what no run has written.
  init(_ text: String) throws(UpsurgeError) {
    let words = text.split(separator: " ")
    guard words.count == 4, let seal = UInt64(words[0]), let source = Int(words[1]), source >= 0,
      let record = UInt64(words[2])
    else { throw PostgresLanes.fault(text) }
    (self.seal, sourceIndex, self.record, endByte) = (seal, source, record, UInt64(words[3]))
  }
}

/// What a connection has stored since the run's position was written down.
struct LaneProgress: Sendable, Equatable {
  var ledger = Ledger()
  var rejectsByReason: [Reject.Code: UInt64] = [:]
  var hasMetTombstone = false
  /// The rejects in the order of the input. Their records are read again where a run resumes.
  var rejects: [Noted] = []

  /// A reject without its record.
  struct Noted: Sendable, Equatable {
    var sourceIndex: Int
    var record: UInt64
    var code: Reject.Code
    var column: String?
    var said: Wording
  }

  init() {}

  mutating func note(_ reject: Reject, sourceIndex: Int) {
    ledger.read += 1
    ledger.rejected += 1
    rejectsByReason[reject.code, default: 0] += 1
    rejects.append(
      Noted(
        sourceIndex: sourceIndex, record: reject.position.record ?? 0, code: reject.code,
        column: reject.column,
        said: reject.said))
  }

  /// As its row has it.
  var text: String {
    var progress = RunProgress()
    (progress.ledger, progress.rejectsByReason) = (ledger, rejectsByReason)
    progress.hasMetTombstone = hasMetTombstone
    var out = JSONText()
    out.beginObject()
    out.key("progress")
    out.literal(RunText.encode(progress))
    out.key("rejects")
    out.beginArray()
    for reject in rejects {
      out.beginArray()
      out.number(UInt64(reject.sourceIndex))
      out.number(reject.record)
      out.string(reject.code.rawValue)
      if let column = reject.column { out.string(column) } else { out.null() }
      out.string(reject.said.stored)
      out.endArray()
    }
    out.endArray()
    out.endObject()
    return String(decoding: out.bytes, as: UTF8.self)
  }

  /// - Throws: `database` for what no run has written.
  init(_ text: String) throws(UpsurgeError) {
    let json = try JSONValue(text)
    guard let stored = json["progress"], let list = json["rejects"]?.array else {
      throw PostgresLanes.fault(text)
    }
    let progress = try RunText.progress(stored)
    (ledger, rejectsByReason) = (progress.ledger, progress.rejectsByReason)
    hasMetTombstone = progress.hasMetTombstone
    for element in list {
      guard let parts = element.array, parts.count == 5, case .integer(let source) = parts[0], source >= 0,
        case .integer(let record) = parts[1], record >= 0, let code = parts[2].text,
        let said = parts[4].text.flatMap({ Wording(stored: $0) })
      else { throw PostgresLanes.fault(text) }
      rejects.append(
        Noted(
          sourceIndex: Int(source), record: UInt64(record), code: Reject.Code(rawValue: code),
          column: parts[3].text,
          said: said))
    }
  }
}

extension RunProgress {
  /// Adds what a connection has stored beside it.
  mutating func add(_ lane: LaneProgress) {
    ledger += lane.ledger
    rejectsByReason.merge(lane.rejectsByReason) { $0 + $1 }
    hasMetTombstone = hasMetTombstone || lane.hasMetTombstone
  }
}
