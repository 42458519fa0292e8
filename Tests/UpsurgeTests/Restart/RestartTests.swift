import Foundation
import TestSupport
import Testing
import UpsurgeInput
import UpsurgeRecords

@testable import Upsurge

/// A run that begins at any batch of another one gives the rest of it, to the last byte of every position.
@Suite("Restarting in the middle of an input")
struct RestartTests {
  @Test(
    "every restart gives the tail of the whole run", arguments: RestartFormat.allCases,
    RestartWrapping.allCases)
  func resumes(format: RestartFormat, wrapping: RestartWrapping) throws {
    var restartCount = 0
    var anchorCount = 0
    for seed in 1...2 as ClosedRange<UInt64> {
      var random = SeededGenerator(seed: seed)
      let largest = Int.random(in: 20...700, using: &random)
      let text = format.text(&random, largest: largest)
      let scratch = Scratch()
      let path = scratch.write(wrapping.wrap(text, &random), to: "in")
      let setting = Self.setting(format, wrapping, &random)
      let whole = try RestartRun(path, setting, columns: format.columns)
      if wrapping.isCut { #expect(whole.error != nil) }

      var columns = format.columns
      for (index, part) in whole.parts.enumerated() {
        defer { columns += part.newColumns }
        guard let restart = part.restart else { continue }
        let what: Comment = "seed \(seed), largest \(largest), \(setting.sizes), batch \(index), \(restart)"
        let rest = try RestartRun(path, setting, from: restart, columns: columns)
        let (found, expected) = (rest.parts.joined, whole.parts[index...].joined)
        #expect(found.records == expected.records, what)
        #expect(found.rejects == expected.rejects, what)
        #expect(found.warnings == expected.warnings, what)
        #expect(found.newColumns == expected.newColumns, what)
        #expect(rest.error == whole.error, what)
        let states = Dictionary(
          whole.parts.compactMap(\.restart).map { ($0.byte, $0.parser) },
          uniquingKeysWith: { first, _ in first })
        for other in rest.parts.compactMap(\.restart) {
          #expect(states[other.byte] == nil || states[other.byte] == other.parser, what)
        }
        restartCount += 1
        anchorCount += restart.anchor.fileOffset > 0 ? 1 : 0
      }
    }
    #expect(restartCount >= (format == .oneObject ? 1 : 10))
    if format != .oneObject { #expect((anchorCount > 0) == wrapping.hasAnchors) }
  }

  private static func setting(
    _ format: RestartFormat, _ wrapping: RestartWrapping, _ random: inout SeededGenerator
  ) -> RestartRun.Setting {
    var opening = OpenedSource.Options()
    opening.encoding = wrapping.encoding
    // What is cut within the sample cannot be opened.
    opening.sampleByteCount =
      wrapping.isCut ? 512 : Int.random(in: 512...2000, using: &random)
    let arenaByteCount = Int.random(in: 1...150, using: &random)
    return RestartRun.Setting(
      format: format, opening: opening,
      sizes: Batch.Sizes(
        arenaByteCount: arenaByteCount, cellCount: Int.random(in: 1...60, using: &random),
        recordCount: Int.random(in: 1...12, using: &random)),
      // A document with a record that is too large has no rest.
      recordByteLimit: max(
        arenaByteCount, Int.random(in: format.isDocument ? 2000...3000 : 150...800, using: &random)),
      pieceByteCount: [1, 7, 64, 100_000].randomElement(using: &random)!)
  }

  @Test("inside a line that is dropped because it is too large there is no restart")
  func hasNoneInsideDroppedLines() throws {
    let scratch = Scratch()
    let line = "{\"a\": \"\(String(repeating: "x", count: 1000))\"}\n"
    let path = scratch.write("{\"a\": 1}\n" + line + line + "{\"a\": 2}\n", to: "in")
    let setting = RestartRun.Setting(
      format: .objects, opening: OpenedSource.Options(),
      sizes: Batch.Sizes(arenaByteCount: 30, cellCount: 50, recordCount: 10), recordByteLimit: 64,
      pieceByteCount: 1000)
    let run = try RestartRun(path, setting, columns: RestartFormat.objects.columns)
    #expect(run.parts.joined.rejects.map(\.code) == [.tooLarge, .tooLarge])
    let tooLarge = run.parts.filter { !$0.rejects.isEmpty }
    #expect(tooLarge.allSatisfy { $0.restart == nil })
    #expect(run.parts.last?.records.last?.position.record == 4)
  }

  @Test("a source that fails in the middle: what came before is delivered first, and can be restarted from")
  func deliversWhatCameBeforeAFailure() throws {
    let text = (1...50).map { "\($0),b,0.5\n" }.joined()
    let failure = UpsurgeError(.unreadableInput, "the cable was pulled")
    guard
      case .csv(var parser) = RestartFormat.csvNoHeader.parser(
        columns: RestartFormat.csvNoHeader.columns, file: "f")
    else { return }
    let pool = BatchPool(count: 2, sizes: Batch.Sizes(arenaByteCount: 64, cellCount: 99, recordCount: 9))
    var filler = BatchFiller(pool: pool, recordByteLimit: 100, sourceIndex: 0)
    var rest = Array(text.utf8.prefix(300))[...]
    var numbers: [UInt64] = []
    var restarts: [Restart?] = []
    let error = #expect(throws: UpsurgeError.self) {
      try filler.run(
        &parser, startOffset: 0, isWhole: true,
        read: { buffer throws(UpsurgeError) in
          if rest.isEmpty { throw failure }
          let count = min(5, rest.count, buffer.count)
          buffer.copyBytes(from: rest.prefix(count))
          rest = rest.dropFirst(count)
          return count
        },
        emit: { batch in
          for record in 0..<batch.recordCount { numbers.append(batch.records[record].number) }
          restarts.append(batch.origin.restart)
          pool.giveBack(batch)
          return true
        })
    }
    #expect(error?.message == failure.message)
    let wholeCount = UInt64(text.utf8.prefix(300).count { $0 == 0x0A })
    #expect(numbers == Array(1...wholeCount))
    #expect(restarts.allSatisfy { $0 != nil })
  }

  @Test("a file that changes while it is read is a warning of the run")
  func warnsOfChanges() throws {
    let scratch = Scratch()
    let source = scratch.write("a,b\n1,x\n2,y\n", to: "in.csv")
    let job = LoadJob(database: scratch.file("a.db"), table: "t", sources: [source])
    let summary = job.run(note: { note in
      guard note.text.hasPrefix(source), let file = FileHandle(forWritingAtPath: source) else { return }
      file.seekToEndOfFile()
      file.write(Data("3,z\n".utf8))
      try? file.close()
    })
    #expect(summary.error == nil)
    #expect(summary.warnings.entries.map(\.code) == [.sourceChanged])
    let quiet = LoadJob(database: scratch.file("b.db"), table: "t", sources: [source]).run()
    #expect(quiet.warnings.isEmpty)
  }
}

extension RestartFormat {
  var isDocument: Bool { self == .document || self == .documentOfArrays || self == .oneObject }
}
