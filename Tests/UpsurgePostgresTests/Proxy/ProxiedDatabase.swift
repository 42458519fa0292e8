import Foundation
import PostgresSupport
import TestSupport
import Testing

@testable import UpsurgePostgres

/// A database that only one test uses, a proxy before it, and a connection that does not go through the proxy.
struct ProxiedDatabase {
  let direct: PostgresConnection
  /// What `direct` is to.
  let directTarget: PostgresTarget
  let proxy: WireProxy
  let target: PostgresTarget

  /// - Parameter installation: the version of the server; nil is the one that tests share.
  init(
    _ faults: [ProxyFault] = [], on installation: PostgresInstallation? = nil,
    by route: WireProxy.Route = .socket
  ) throws {
    let server = try installation.map { try PostgresServer.shared($0) } ?? PostgresServer.shared()
    directTarget = try #require(PostgresTarget(try Server.freshURL(on: server)))
    direct = try PostgresConnection(to: directTarget)
    proxy = try WireProxy(before: server, by: route, faults: faults)
    target = try #require(PostgresTarget(proxy.url(database: direct.database)))
  }

  func connect() throws(PostgresFailure) -> PostgresConnection { try PostgresConnection(to: target) }

  /// Waits until the server has ended the sessions whose clients have left.
  func settle() throws {
    for _ in 0..<5000 {
      let others = try direct.texts(
        """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
        """)
      if others == [["0"]] { return }
      usleep(2000)
    }
    Issue.record("a session has not ended")
  }
}

/// Where and how a connection is cut at its n-th message.
struct MessageCut: CustomStringConvertible, Sendable {
  var moment: ProxyFault.Moment
  var direction: ProxyFault.Direction
  var isHard = false

  var description: String { "\(moment) a message \(direction)\(isHard ? ", reset" : "")" }

  func fault(at number: Int) -> ProxyFault { .cut(moment, .message(direction), at: number, isHard: isHard) }

  static let all = [
    MessageCut(moment: .before, direction: .fromClient), MessageCut(moment: .after, direction: .fromClient),
    MessageCut(moment: .after, direction: .fromClient, isHard: true),
    MessageCut(moment: .before, direction: .fromServer, isHard: true),
    MessageCut(moment: .after, direction: .fromServer),
  ]

  /// Cuts loads at messages that lie so far apart, each way anew, until one has ended before its message came.
  /// - Parameters:
  ///   - proxy: what the loads go through.
  ///   - seed: decides which message is the first.
  ///   - load: makes a load that meets the fault.
  static func atEveryMessage(
    of proxy: WireProxy, stride: Int, from seed: UInt64,
    _ load: (_ cut: MessageCut, _ number: Int) throws -> Void
  ) rethrows {
    for (index, cut) in all.enumerated() {
      var number = 1 + Int((seed &+ UInt64(index) &* 7) % UInt64(stride))
      repeat {
        try load(cut, number)
        number += stride
      } while proxy.events.contains(where: \.isCut)
      #expect(number > 40, "\(cut), from \(seed)")
    }
  }
}

extension SeededGenerator {
  /// What a random test begins with; a failure names it.
  static func firstSeed() -> UInt64 { givenSeed ?? UInt64.random(in: 0..<1 << 40) }
}
