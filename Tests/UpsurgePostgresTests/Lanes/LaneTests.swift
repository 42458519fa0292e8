import Foundation
import PostgresSupport
import TestSupport
import Testing
import UpsurgeRecords
import UpsurgeState

@testable import UpsurgePostgres

/// What the connections of a run note, and where they meet.
@Suite("Connections of a run")
struct LaneTests {
  @Test("A mark and what was stored come back from their texts")
  func texts() throws {
    var mark = LaneMark(seal: 7)
    #expect(try LaneMark(mark.text) == mark)
    (mark.sourceIndex, mark.record, mark.endByte) = (2, 1 << 40, 12)
    #expect(try LaneMark(mark.text) == mark)
    for text in ["", "1 2 3", "x 0 0 -", "0 -1 0 -", "0 0 0 - 1"] {
      #expect(throws: UpsurgeError.self, "\(text)") { _ = try LaneMark(text) }
    }
    var progress = LaneProgress()
    #expect(try LaneProgress(progress.text) == progress)
    (progress.ledger.read, progress.ledger.inserted, progress.hasMetTombstone) = (3, 3, true)
    let raw: [UInt8] = Array("3,x".utf8)
    raw.withUnsafeBufferPointer { raw in
      for column in [nil, "a \"b\""] {
        let position = Position(file: "f", record: 9, line: 10, byte: 11)
        progress.note(
          Reject(.check, at: position, column: column, reason: "no\nway [23514]", raw: raw), sourceIndex: 1)
      }
    }
    let again = try LaneProgress(progress.text)
    #expect(
      again == progress && again.ledger.rejected == 2 && again.rejects.map(\.column) == [nil, "a \"b\""])
    #expect(throws: UpsurgeError.self) { _ = try LaneProgress("{}") }
  }

  @Test("A mark covers the records up to its own, of this source and those before")
  func covers() {
    var mark = LaneMark(seal: 0)
    (mark.sourceIndex, mark.record) = (1, 5)
    #expect(mark.covers(5, sourceIndex: 1) && mark.covers(100, sourceIndex: 0))
    #expect(!mark.covers(6, sourceIndex: 1) && !mark.covers(1, sourceIndex: 2))
  }

  @Test("The position of a run says how many connections it has")
  func position() throws {
    var position = RunPosition()
    #expect(
      try RunText.position(RunText.encode(position)) == position
        && !RunText.hasLanes(RunText.encode(position)))
    position.lanes = RunPosition.Lanes(count: 8, seal: 3, division: "1\na \"b\" 20")
    #expect(
      try RunText.position(RunText.encode(position)) == position && RunText.hasLanes(RunText.encode(position))
    )
    for (old, new) in [
      ("connections\":8", "connections\":1"), ("connections\":8", "connections\":18446744073709551615"),
      ("seal\":3", "seal\":18446744073709551615"), ("divided_by", "divided"),
    ] {
      #expect(throws: UpsurgeError.self, "\(new)") {
        _ = try RunText.position(RunText.encode(position).replacing(old, with: new))
      }
    }
  }

  /// What connections that arrive at a gate on threads of their own have met with; nil for those that may commit.
  private func arrive(_ lanes: [Int], at gate: LaneGate, then body: () -> Void) throws -> [FailureClass?] {
    let found = Guarded<[Int: FailureClass?]>([:])
    let threads = try lanes.map { lane in
      try WorkerThread {
        let kind = Server.failure { try gate.arrive(lane) }?.kind
        found.withLock { $0[lane] = .some(kind) }
      }
    }
    body()
    for thread in threads { thread.join() }
    return found.withLock { found in lanes.map { found[$0] ?? .other } }
  }

  @Test("All connections wait for the last one, and commit when the run lets them")
  func opened() throws {
    let gate = LaneGate(count: 3)
    let found = try arrive([0, 1, 2], at: gate) {
      gate.noteSealed()
      if gate.awaitAll() { gate.open() }
    }
    #expect(found == [nil, nil, nil])
    // A connection that has broken in its COMMIT makes its transaction again.
    #expect(try arrive([1], at: gate) { gate.shut() } == [nil])
  }

  @Test("None commits where one has failed")
  func shut() throws {
    let gate = LaneGate(count: 3)
    var isWhole = true
    let found = try arrive([0, 1], at: gate) {
      gate.shut()
      isWhole = gate.awaitAll()
    }
    #expect(found == [.other, .other] && !isWhole)
    #expect(Server.failure { try gate.awaitSeal() }?.kind == .other)
  }

  @Test("Connections that wait are sent back where another one was kept waiting")
  func sentBack() throws {
    let gate = LaneGate(count: 2)
    let sender = try WorkerThread {
      for _ in 0..<200 {
        gate.sendBack()
        usleep(5_000)
      }
      gate.shut()
    }
    let found = try arrive([0], at: gate) {}
    sender.join()
    #expect(found == [.retryTransaction])
  }

  @Test(
    "Connections that wait commit where sending them back was of no help, but for one whose reject ends the run"
  )
  func free() throws {
    let gate = LaneGate(count: 3)
    let found = try arrive([0, 1], at: gate) {
      gate.noteSealed()
      gate.sendBack(isAgain: true)
    }
    #expect(found == [nil, nil] && gate.isFree)
    #expect(Server.failure { try gate.arrive(2, endsRun: true) } == .rejectEndsRun)
    // It is not sent back any more, and has arrived nevertheless.
    gate.sendBack()
    #expect(gate.awaitAll())
    gate.shut()
    #expect(Server.failure { try gate.arrive(0) } == .roundEnded)
  }

  @Test(
    "Connections that were kept waiting are at work one after the other, when the others have stored their records"
  )
  func turns() throws {
    let gate = LaneGate(count: 4, isFree: true)
    gate.noteSealed()
    let atWork = Guarded<[Int]>([])
    let threads = try [1, 2, 3].map { lane in
      try WorkerThread {
        gate.awaitTurn(lane)
        atWork.withLock { $0.append(lane) }
        usleep(20_000)
        atWork.withLock { $0.append(lane) }
        _ = Server.failure { try gate.arrive(lane) }
      }
    }
    usleep(50_000)
    #expect(atWork.withLock { $0 } == [])
    try gate.arrive(0)
    for thread in threads { thread.join() }
    let order = atWork.withLock { $0 }
    #expect(order.count == 6 && (0..<3).allSatisfy { order[$0 * 2] == order[$0 * 2 + 1] }, "\(order)")
    #expect(gate.awaitAll())
  }

  @Test("No connection commits before what was committed before is written down")
  func sealedFirst() throws {
    let gate = LaneGate(count: 2, isFree: true)
    let found = try arrive([0], at: gate) {
      usleep(50_000)
      gate.shut()
    }
    #expect(found == [.other])
  }

  @Test("A connection that another one has sent back waits as long as that one does")
  func patience() {
    var patience = ServerPatience()
    patience.busySeconds = -1
    var wait = ServerWait(patience, nil)
    #expect(Server.failure { try wait.wait(after: .sentBack, isAtWork: true) } == nil)
    let deadlock = PostgresFailure(.retryTransaction, "deadlock detected", sqlState: "40P01")
    #expect(Server.failure { try wait.wait(after: deadlock, isAtWork: true) } == deadlock)
  }
}
