import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// One client and its connection to the server; belongs to one thread.
///
/// Messages are taken from what has come, judged by the plan, and put into what is to go. Statements are answered with errors so
/// that the server agrees: it gets one that fails there, and its error is replaced by that of the fault. Instead of a COMMIT it gets
/// a ROLLBACK, whose success becomes the error. That takes clients that wait for each answer, as libpq does.
struct ProxySession {
  private let number: Int
  private let plan: FaultPlan
  private let client: Int32
  private let server: Int32
  private var (fromClient, toClient, fromServer, toServer) = (
    WireBuffer(), WireBuffer(), WireBuffer(), WireBuffer()
  )
  private var hasStarted = false
  /// The texts of prepared statements, and of portals.
  private var (statements, portals) = ([String: String](), [String: String]())
  private var rewriting = Rewriting()
  /// Set when the next answer is kept back and the connection cut.
  private var cutAtAnswer: ProxyCut?
  /// Set when nothing is read any more: what is to go goes, and then the connection.
  private var ending: (cut: ProxyCut, since: Date)?

  /// What becomes of the server's messages until it is ready again.
  private struct Rewriting {
    /// Instead of the error of the statement that fails.
    var failure: ProxyError?
    /// Instead of the success of COMMIT or ROLLBACK.
    var completion: ProxyError?
    var restatements: [String: String] = [:]
    var version: String?
    var versionColumns: [Int] = []
  }

  /// Said by the server's error on the statement that fails.
  private static let mark = "upsurge wire proxy"
  private static let failingStatement = "SELECT '\(mark)'::int"
  /// Bytes that wait for one side before nothing is read from the other.
  private static let bufferLimit = 1 << 20

  init(number: Int, plan: FaultPlan, client: Int32, server: Int32) {
    (self.number, self.plan, self.client, self.server) = (number, plan, client, server)
  }

  /// Forwards until one side has ended, or the connection is cut.
  mutating func run() {
    while !plan.isStopped {
      if let ending, toClient.isEmpty && toServer.isEmpty || ending.since.timeIntervalSinceNow < -5 { break }
      let reads = ending == nil
      var polled = [
        pollfd(
          fd: client,
          events: Self.events(reads: reads && toServer.count < Self.bufferLimit, writes: !toClient.isEmpty),
          revents: 0),
        pollfd(
          fd: server,
          events: Self.events(reads: reads && toClient.count < Self.bufferLimit, writes: !toServer.isEmpty),
          revents: 0),
      ]
      if poll(&polled, 2, 100) < 0 && errno != EINTR { break }
      // What a side has sent before it left still goes on.
      if Self.isReadable(polled[0]), !LoopbackSocket.read(client, into: &fromClient) { end() }
      if Self.isReadable(polled[1]), !LoopbackSocket.read(server, into: &fromServer) { end() }
      takeFromClient()
      takeFromServer()
      LoopbackSocket.write(&toServer, to: server)
      LoopbackSocket.write(&toClient, to: client)
    }
    if ending?.cut.isHard == true { LoopbackSocket.resetOnClose(client, server) }
    close(client)
    wait(ending?.cut.serverSeconds ?? 0)
    close(server)
    plan.note(.closed(number))
  }

  private static func events(reads: Bool, writes: Bool) -> Int16 {
    (reads ? Int16(POLLIN) : 0) | (writes ? Int16(POLLOUT) : 0)
  }

  private static func isReadable(_ polled: pollfd) -> Bool {
    polled.revents != 0 && polled.events & Int16(POLLIN) != 0
  }

  private mutating func end(_ cut: ProxyCut = ProxyCut(moment: .after)) {
    if ending == nil { ending = (cut, Date()) }
  }

  // MARK: - From the client

  private mutating func takeFromClient() {
    var isCut = false
    while !isCut {
      if hasStarted {
        guard let message = fromClient.message() else { return }
        isCut = forward(fromClient: message)
      } else {
        guard let (code, message) = fromClient.startUp() else { return }
        isCut = begin(code, message)
      }
    }
    fromClient.removeAll()
    fromServer.removeAll()
  }

  private mutating func begin(_ code: Int, _ message: WireMessage) -> Bool {
    switch code {
    case 80_877_103, 80_877_104:
      // No TLS, no GSSAPI.
      toClient.append(CollectionOfOne(UInt8(ascii: "N")))
      return false
    case 80_877_102:
      // The cancellation of a statement of another connection.
      hasStarted = true
      toServer.append(message.bytes)
      return false
    default:
      hasStarted = true
      return forward(fromClient: message)
    }
  }

  /// - Returns: whether the connection is cut.
  private mutating func forward(fromClient message: WireMessage) -> Bool {
    let verdict = plan.verdict(on: described(message))
    wait(verdict.delaySeconds)
    if let cut = verdict.cut, cut.moment == .before {
      end(cut)
      return true
    }
    toServer.append(changed(message, verdict).bytes)
    guard let cut = verdict.cut else { return false }
    if cut.moment == .after {
      end(cut)
    } else {
      cutAtAnswer = cut
    }
    return cut.moment == .after
  }

  /// A message as faults look at it; names of statements and portals are kept.
  private mutating func described(_ message: WireMessage) -> ProxiedMessage {
    var described = ProxiedMessage(
      connection: number, direction: .fromClient, letter: message.letter, isStartUp: message.type == 0)
    switch UnicodeScalar(message.type) {
    case "Q":
      described.text = message.queryText
      described.asked = SQLText.statements(message.queryText ?? "")
      described.executed = described.asked
    case "P":
      described.text = message.queryText
      described.asked = SQLText.statements(message.queryText ?? "")
      statements[message.name] = described.asked.first
    case "B": portals[message.name] = statements[message.boundStatement]
    case "E": described.executed = portals[message.name].map { [$0] } ?? []
    default: break
    }
    return described
  }

  /// The message as the server gets it.
  private mutating func changed(_ message: WireMessage, _ verdict: FaultVerdict) -> WireMessage {
    guard var text = message.queryText else { return message }
    rewriting = Rewriting(restatements: verdict.restatements, version: verdict.version)
    for (words, others) in verdict.substitutions { text = text.replacing(words, with: others) }
    if let answer = verdict.answer {
      switch answer.ending {
      case .commit: rewriting.completion = answer.error
      case .rollback:
        rewriting.completion = answer.error
        text = "ROLLBACK"
      case nil:
        rewriting.failure = answer.error
        text = (SQLText.statements(text).prefix(answer.statement) + [Self.failingStatement]).joined(
          separator: "; ")
      }
    }
    return verdict.answer == nil && verdict.substitutions.isEmpty ? message : message.replacingQuery(text)
  }

  // MARK: - From the server

  private mutating func takeFromServer() {
    while let message = fromServer.message() {
      if forward(fromServer: message) {
        fromClient.removeAll()
        fromServer.removeAll()
      }
    }
  }

  /// - Returns: whether the connection is cut.
  private mutating func forward(fromServer message: WireMessage) -> Bool {
    let verdict = plan.verdict(
      on: ProxiedMessage(connection: number, direction: .fromServer, letter: message.letter))
    wait(verdict.delaySeconds)
    if let cutAtAnswer, "CEGHZ".unicodeScalars.contains(UnicodeScalar(message.type)) {
      end(cutAtAnswer)
      return true
    }
    if let cut = verdict.cut, cut.moment != .after {
      end(cut)
      return true
    }
    let isLast = answer(message)
    if let cut = verdict.cut {
      end(cut)
      return true
    }
    if isLast { end() }
    return isLast
  }

  /// Puts a message, or what it is replaced by, into what goes to the client.
  /// - Returns: whether the connection ends with it.
  private mutating func answer(_ message: WireMessage) -> Bool {
    var (message, isLast) = (message, false)
    switch UnicodeScalar(message.type) {
    case "T" where rewriting.version != nil:
      rewriting.versionColumns = message.columnNames.indices.filter { message.columnNames[$0] == "version" }
    case "D":
      if let version = rewriting.version {
        message = message.replacingValues(
          Dictionary(uniqueKeysWithValues: rewriting.versionColumns.map { ($0, version) }))
      }
    case "C":
      if let error = rewriting.completion { (message, isLast) = (.error(error), error.isFatal) }
    case "E":
      if let error = rewriting.failure, String(decoding: message.payload, as: UTF8.self).contains(Self.mark) {
        (message, isLast) = (.error(error), error.isFatal)
      } else if !rewriting.restatements.isEmpty {
        message = message.restated(rewriting.restatements)
      }
    case "Z": rewriting = Rewriting()
    default: break
    }
    toClient.append(message.bytes)
    return isLast
  }

  private func wait(_ seconds: Double) {
    let end = Date(timeIntervalSinceNow: seconds)
    while end.timeIntervalSinceNow > 0, !plan.isStopped {
      usleep(UInt32(min(end.timeIntervalSinceNow, 0.05) * 1e6 + 1))
    }
  }
}
