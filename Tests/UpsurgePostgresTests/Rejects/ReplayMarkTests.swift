import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords
import UpsurgeState

@testable import UpsurgePostgres

/// Where a replay stands, as a server keeps it.
@Suite(
  "Marks of replays on a server",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct ReplayMarkTests {
  private static let path = "/data/bad.ndjson"

  private static func mark(_ byteCount: UInt64, hash: UInt64) -> ReplayMark {
    ReplayMark(
      path: path, doneByteCount: byteCount, doneHash: hash, keptByteCount: 0, keptHash: .max, progress: "{}")
  }

  @Test("Files of two machines under one path have a mark each")
  func machines() throws {
    let connection = try Server.database()
    let (replays, text) = (PostgresReplays(schema: "public"), ServerText(encoding: "UTF8"))
    try replays.make(connection)
    let (mine, theirs) = (Self.mark(10, hash: 1), Self.mark(10, hash: 2))
    try replays.write(mine, after: nil, text, connection)
    try replays.write(theirs, after: nil, text, connection)
    let next = Self.mark(20, hash: 3)
    try replays.write(next, after: mine, text, connection)
    #expect(try replays.marks(text, connection).map(\.doneHash).sorted() == [2, 3])
    // Who has not seen the last one cannot write over it.
    let failure = Server.failure { try replays.write(Self.mark(30, hash: 4), after: mine, text, connection) }
    #expect(failure?.kind == .takenOver)
    try replays.remove(mine, text, connection)
    try replays.remove(theirs, text, connection)
    #expect(try replays.marks(text, connection) == [next])
  }

  @Test("A path can be had again from what a database takes of it", arguments: ["UTF8", "LATIN1"])
  func paths(encoding: String) {
    let text = ServerText(encoding: encoding)
    for path in ["/data/bad.ndjson", "/données/100%25/ÿ€.ndjson", "/a\nb\u{1}%"] {
      #expect(text.path(from: text.path(path)) == path)
    }
    #expect(encoding == "UTF8" || text.path("/é%").utf8.allSatisfy { $0 < 0x80 })
  }

  @Test("A run that has ended and committed nothing holds no record back")
  func void() throws {
    let stores = try TwoStores(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER)",
      server: "CREATE TABLE t (id bigint PRIMARY KEY, n bigint)")
    let file = stores.scratch.file("bad.ndjson")
    let text = "id,n\n" + (1...100).map { $0 % 30 == 0 ? "\($0),x\n" : "\($0),1\n" }.joined()
    let ended = try stores.load(stores.scratch.write(text, to: "feed.csv"), .postgres) {
      ($0.transaction.commitEvery, $0.tuning.batchSizes.recordCount) = (40, 20)
      ($0.rejects.target, $0.rejects.limit) = (.file(file), .count(2))
    }
    #expect(ended.exitCode == 3)
    let (position, progress) = (RunText.encode(RunPosition()), RunText.encode(RunProgress()))
    try stores.server.psql(
      "UPDATE upsurge_runs SET position = '\(position)', progress = '\(progress)'", in: stores.url)
    #expect(try stores.rows("SELECT state FROM upsurge_runs", .postgres) == ["'running'"])
    let replay = try stores.replay(.postgres, file: file).summary
    #expect(replay.error == nil && replay.ledger.read > 0)
    #expect(replay.tables.flatMap(\.untried).isEmpty && !replay.rejects.isEmpty)
  }
}
