/// A run that goes on where an earlier part of it has ended.
struct Resumption: Sendable {
  let run: RunRecord
  /// The bytes between the place where reading begins again and the last committed record: they were read to see that
  /// they are the same, and are read again from here.
  let block: [UInt8]

  /// Takes a source to the place where it can begin again.
  /// - Returns: the bytes up to the last committed record, which are the next to be parsed; nil when they are not those
  ///   that were read then.
  /// - Throws: `badInput` where the source is damaged before that.
  static func goThere(_ source: PreparedSource, _ position: RunPosition) throws(UpsurgeError) -> [UInt8]? {
    guard let restart = position.restart else { return [] }
    do throws(UpsurgeError) {
      try source.opened.seek(to: restart.byte, from: restart.anchor)
      guard let block = position.block else { return [] }
      let bytes = try source.opened.bytes(count: block.byteCount)
      return bytes.withUnsafeBytes { block.matches($0) } ? bytes : nil
    } catch {
      // A file that is damaged where it was whole has changed.
      if error.code == .badInput { return nil }
      throw error
    }
  }
}

extension OpenedSource {
  /// The next bytes; fewer only at the end.
  fileprivate func bytes(count: Int) throws(UpsurgeError) -> [UInt8] {
    var bytes: [UInt8] = []
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    defer { memory.deallocate() }
    while bytes.count < count {
      let part = UnsafeMutableRawBufferPointer(rebasing: memory[..<min(memory.count, count - bytes.count)])
      let read = try read(into: part)
      if read == 0 { break }
      bytes += part[..<read]
    }
    return bytes
  }
}

/// What a run begins with.
package struct Beginning {
  /// The first source that holds something, or the one that is resumed.
  package let source: PreparedSource
  package let index: Int
  package let files: RunFiles
  /// The run that goes on.
  package var resumption: RunRecord?
  /// Earlier runs of the job that this one takes the place of.
  package let replaced: [RunRecord]
  /// An earlier run that cannot go on, where starting over may do something twice.
  let doubt: RunStart.Doubt?

  /// How a run begins in the place of one that cannot go on, as its source is not what it was.
  func startAnew(insteadOf run: RunRecord, in names: [String]) -> RunStart {
    let doubt = RunStart.Doubt(run: run, change: "\(names[index].escapedForTerminal) has changed")
    return .anew(replaced: replaced + [run], doubt: doubt)
  }
}

/// What is left to do when the run's ledger was seen.
package final class RunEnding: @unchecked Sendable {
  // Sendable because it is made on the writing thread at its end, and used on the calling thread after that.

  /// nil where the store is not SQLite.
  let connection: Connection?
  private let act: (_ exitCode: Int32, _ isLast: Bool) throws(UpsurgeError) -> Void

  /// Of a run that has ended just now.
  init(_ keeper: RunKeeper, _ writer: TableWriter) {
    let (progress, position) = (writer.progress(isWhole: true), writer.position)
    connection = keeper.connection
    act = { (exitCode, isLast) throws(UpsurgeError) in
      try keeper.acknowledge(progress, position, exitCode: exitCode, isLast: isLast)
    }
  }

  /// Of a run that had ended before.
  init(_ run: RunRecord, on connection: Connection, options: LoadOptions) {
    self.connection = connection
    act = { (exitCode, _) throws(UpsurgeError) in
      try RunKeeper.forget(
        (run.id, run.owner), keepsHistory: options.transaction.keepsHistory,
        keeping: options.transaction.keptRunCount,
        exitCode: exitCode, on: connection)
    }
  }

  /// Of a run in a store that is not SQLite.
  package init(_ act: @escaping (_ exitCode: Int32) throws(UpsurgeError) -> Void) {
    connection = nil
    self.act = { (exitCode, _) throws(UpsurgeError) in try act(exitCode) }
  }

  /// Takes the mark of the run away.
  /// - Parameter isLast: as in `RunKeeper.acknowledge`.
  func acknowledge(exitCode: Int32, isLast: Bool) throws(UpsurgeError) {
    connection?.moveToCurrentThread()
    try act(exitCode, isLast)
  }
}
