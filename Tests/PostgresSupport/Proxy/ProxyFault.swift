/// What goes wrong between a client and its server, where, and how often.
///
///     .cut(.before, .message(.fromClient), at: 7)       the connection breaks before the client's 7th message
///     .cut(.after, .commit)                             the COMMIT arrives, its answer does not
///     .answer(.commit, "40001", chance: 0.2, seed: 1)   a COMMIT in five is rolled back
///     .refuse(.makesTemporaryTable, "42501")            always
///     .version("CockroachDB CCL v25.1.2 (…)")           what `version()` says
///
/// A fault counts the places that it meets from when it was set, over all connections of the proxy.
public struct ProxyFault: Sendable {
  public enum Direction: Sendable, Hashable { case fromClient, fromServer }

  public enum Place: Sendable {
    case message(Direction)
    /// The first message of a connection. A cut there is a server that cannot be reached.
    case startUp
    /// A statement. Cuts and delays look at where it is run, answers at where its text is sent.
    case statement(StatementKind)
    /// A COMMIT that comes alone.
    case commit
  }

  /// When a connection is cut.
  public enum Moment: Sendable, Equatable {
    /// The message is not forwarded.
    case before
    /// The message is forwarded, and nothing after it.
    case after
    /// The server has answered it, and the answer is not forwarded.
    case beforeAnswer
  }

  enum Effect: Sendable {
    case cut(ProxyCut)
    /// An error instead of the statement. A COMMIT may be carried out all the same.
    case answer(ProxyError, commits: Bool)
    case substitute(String, with: String)
    case version(String)
    /// Another SQLSTATE than the server's.
    case restate(String, as: String)
    case delay(seconds: Double)
  }

  let place: Place
  let effect: Effect
  /// Which of the places it meets is the first.
  let first: Int
  /// How often; nil always.
  let limit: Int?
  /// How likely it is at each place from the first on.
  let chance: Double
  let seed: UInt64

  /// Cuts the connection on both sides. What was forwarded before still arrives.
  /// - Parameters:
  ///   - isHard: whether the client finds its connection reset, and not closed.
  ///   - serverSeconds: how long the server takes the client for one that is silent.
  public static func cut(
    _ moment: Moment, _ place: Place, at first: Int = 1, times limit: Int? = 1, isHard: Bool = false,
    serverSeconds: Double = 0, chance: Double = 1, seed: UInt64 = 0
  ) -> ProxyFault {
    let cut = ProxyCut(moment: moment, isHard: isHard, serverSeconds: serverSeconds)
    return ProxyFault(place: place, effect: .cut(cut), first: first, limit: limit, chance: chance, seed: seed)
  }

  /// Answers a statement with an error. In a transaction the server's has failed then, and it waits for a ROLLBACK.
  /// A COMMIT ends the transaction.
  /// - Parameters:
  ///   - place: a statement or COMMIT.
  ///   - commits: whether a COMMIT is carried out, and its success is kept back.
  public static func answer(
    _ place: Place, _ error: ProxyError, commits: Bool = false, at first: Int = 1, times limit: Int? = 1,
    chance: Double = 1, seed: UInt64 = 0
  ) -> ProxyFault {
    ProxyFault(
      place: place, effect: .answer(error, commits: commits), first: first, limit: limit, chance: chance,
      seed: seed)
  }

  /// Answers each such statement with an error: what a server or a role cannot do.
  public static func refuse(_ kind: StatementKind, _ error: ProxyError) -> ProxyFault {
    answer(.statement(kind), error, times: nil)
  }

  /// What `version()` says: the column `version` of each statement that has a call of it.
  public static func version(_ text: String) -> ProxyFault {
    ProxyFault(
      place: .statement(.containing("version()")), effect: .version(text), first: 1, limit: nil, chance: 1,
      seed: 0)
  }

  /// Sends other words than the client has written.
  public static func substitute(_ words: String, with others: String) -> ProxyFault {
    ProxyFault(
      place: .statement(StatementKind("has \(words)") { $0.contains(words) }),
      effect: .substitute(words, with: others), first: 1,
      limit: nil, chance: 1, seed: 0)
  }

  /// Gives errors of such statements another SQLSTATE: what a coordinator makes of those of its workers.
  public static func restate(_ sqlState: String, as other: String, of kind: StatementKind = .any)
    -> ProxyFault
  {
    ProxyFault(
      place: .statement(kind), effect: .restate(sqlState, as: other), first: 1, limit: nil, chance: 1, seed: 0
    )
  }

  /// Holds a message back, and all after it.
  public static func delay(
    _ seconds: Double, _ place: Place, at first: Int = 1, times limit: Int? = 1, chance: Double = 1,
    seed: UInt64 = 0
  ) -> ProxyFault {
    ProxyFault(
      place: place, effect: .delay(seconds: seconds), first: first, limit: limit, chance: chance, seed: seed)
  }
}

/// How a connection is cut.
struct ProxyCut: Sendable {
  var moment: ProxyFault.Moment
  var isHard = false
  var serverSeconds = 0.0
}

/// What a server says against a statement; a literal is its SQLSTATE.
public struct ProxyError: Sendable, Equatable, ExpressibleByStringLiteral {
  public var sqlState: String
  public var message: String
  /// Whether the connection is closed after it.
  public var isFatal: Bool

  /// States that a server says when it ends a session.
  private static let fatalStates: Set<String> = ["57P01", "57P02", "57P03", "57P05", "25P03", "53300"]

  public init(_ sqlState: String, _ message: String = "the wire proxy says so", isFatal: Bool? = nil) {
    (self.sqlState, self.message) = (sqlState, message)
    self.isFatal = isFatal ?? Self.fatalStates.contains(sqlState)
  }

  public init(stringLiteral sqlState: String) { self.init(sqlState) }
}

/// What a proxy has done, and for which of its connections, from 1.
public enum ProxyEvent: Sendable, Equatable {
  case connected(Int)
  /// A text that the client has sent, of one statement or several.
  case asked(Int, String)
  /// - Parameter at: the statement, or the letter of the message.
  case cut(Int, ProxyFault.Moment, at: String)
  case answered(Int, sqlState: String, statement: String)
  case changed(Int, statement: String)
  case delayed(Int, at: String)
  case closed(Int)

  public var isConnection: Bool { if case .connected = self { true } else { false } }
  public var isCut: Bool { if case .cut = self { true } else { false } }
  public var isAnswer: Bool { if case .answered = self { true } else { false } }
}
