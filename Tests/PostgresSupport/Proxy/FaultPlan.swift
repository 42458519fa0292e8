import Synchronization

/// The faults of a proxy, what they have met, and what was done; all its connections share it.
final class FaultPlan: Sendable {
  private struct State {
    var armed: [ArmedFault] = []
    var events: [ProxyEvent] = []
    var messageCounts: [ProxyFault.Direction: Int] = [:]
    var connectionCount = 0
    var isStopped = false
  }

  private let state = Mutex(State())

  init(_ faults: [ProxyFault]) { set(faults) }

  /// Others from now on; counts and events begin anew.
  func set(_ faults: [ProxyFault]) {
    let armed = faults.map { ArmedFault($0) }
    state.withLock { state in
      (state.armed, state.events, state.messageCounts) = (armed, [], [:])
    }
  }

  var events: [ProxyEvent] { state.withLock { $0.events } }
  func messageCount(_ direction: ProxyFault.Direction) -> Int {
    state.withLock { $0.messageCounts[direction] ?? 0 }
  }

  var isStopped: Bool { state.withLock { $0.isStopped } }
  func stop() { state.withLock { $0.isStopped = true } }

  func note(_ event: ProxyEvent) { state.withLock { $0.events.append(event) } }

  /// - Returns: the number of a new connection.
  func connect() -> Int {
    state.withLock { state in
      state.connectionCount += 1
      state.events.append(.connected(state.connectionCount))
      return state.connectionCount
    }
  }

  /// What is to be done with a message.
  func verdict(on message: ProxiedMessage) -> FaultVerdict {
    state.withLock { state in
      state.messageCounts[message.direction, default: 0] += 1
      if let text = message.text { state.events.append(.asked(message.connection, text)) }
      var verdict = FaultVerdict()
      for index in state.armed.indices { state.armed[index].judge(message, &verdict, &state.events) }
      return verdict
    }
  }
}

/// A message as faults look at it.
struct ProxiedMessage {
  var connection: Int
  var direction: ProxyFault.Direction
  var letter: String
  var isStartUp = false
  /// What the message asks for (Query, Parse).
  var text: String?
  /// The statements that the message asks for.
  var asked: [String] = []
  /// The statements that it runs (Query, Execute).
  var executed: [String] = []
}

/// What is to be done with a message.
struct FaultVerdict {
  var delaySeconds = 0.0
  var cut: ProxyCut?
  /// An error instead of one of its statements.
  var answer: Answer?
  var version: String?
  /// SQLSTATEs that errors get instead of others.
  var restatements: [String: String] = [:]
  /// Words that are sent instead of others.
  var substitutions: [(words: String, others: String)] = []

  struct Answer {
    var error: ProxyError
    var statement: Int
    /// Whether the statement ends the transaction, and how.
    var ending: Ending?

    enum Ending { case commit, rollback }
  }
}

/// A fault, and how often it was met.
private struct ArmedFault {
  let fault: ProxyFault
  var (metCount, doneCount) = (0, 0)
  var generator: SeededNumbers

  init(_ fault: ProxyFault) {
    self.fault = fault
    generator = SeededNumbers(state: fault.seed)
  }

  mutating func judge(_ message: ProxiedMessage, _ verdict: inout FaultVerdict, _ events: inout [ProxyEvent])
  {
    guard let place = place(in: message) else { return }
    metCount += 1
    if metCount < fault.first || doneCount == fault.limit { return }
    if fault.chance < 1, generator.unit() >= fault.chance { return }
    let number = message.connection
    switch fault.effect {
    case .cut(let cut):
      if verdict.cut != nil { return }
      verdict.cut = cut
      events.append(.cut(number, cut.moment, at: place.name))
    case .answer(let error, let commits):
      if verdict.answer != nil { return }
      let ends = message.asked.count == 1 && StatementKind.commits.holds(place.name)
      verdict.answer = FaultVerdict.Answer(
        error: error, statement: place.index, ending: ends ? commits ? .commit : .rollback : nil)
      events.append(.answered(number, sqlState: error.sqlState, statement: place.name))
    case .substitute(let words, let others):
      verdict.substitutions.append((words, others))
      events.append(.changed(number, statement: place.name))
    case .version(let text):
      verdict.version = text
      events.append(.changed(number, statement: place.name))
    case .restate(let sqlState, let other): verdict.restatements[sqlState] = other
    case .delay(let seconds):
      verdict.delaySeconds += seconds
      events.append(.delayed(number, at: place.name))
    }
    doneCount += 1
  }

  /// Where the fault is in a message; nil where it is not.
  private func place(in message: ProxiedMessage) -> (index: Int, name: String)? {
    func first(_ statements: [String], _ kind: StatementKind) -> (index: Int, name: String)? {
      statements.firstIndex { kind.holds($0) }.map { ($0, statements[$0]) }
    }
    let statements =
      switch fault.effect {
      case .cut, .delay: message.executed
      case .answer, .substitute, .version, .restate: message.asked
      }
    switch fault.place {
    case .message(let direction):
      return direction == message.direction ? (0, message.executed.first ?? message.letter) : nil
    case .startUp: return message.isStartUp ? (0, message.letter) : nil
    case .statement(let kind): return first(statements, kind)
    case .commit: return statements.count == 1 ? first(statements, .commits) : nil
    }
  }
}

/// SplitMix64, as TestSupport has it.
private struct SeededNumbers {
  var state: UInt64

  /// From 0 to 1, without 1.
  mutating func unit() -> Double {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return Double((mixed ^ (mixed >> 31)) >> 11) * 0x1p-53
  }
}
