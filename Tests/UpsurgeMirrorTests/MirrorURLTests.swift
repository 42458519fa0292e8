import Foundation
import Synchronization
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// Feeds behind a URL.
@Suite("Mirrors of URLs") struct MirrorURLTests {
  let scratch = Scratch()

  private static func csv(_ count: Int) -> [UInt8] {
    Array(("id,v\n" + (0..<count).map { "\($0),value \($0)\n" }.joined()).utf8)
  }

  private func job(_ server: HTTPTestServer) -> MirrorJob {
    var table = MirrorTable(name: "feed", sources: [server.url()])
    table.options.rules.key = ["id"]
    table.options.rejects.onError = .reject
    table.sweep = .hard
    table.headers = ["Authorization": "Bearer secret"]
    return MirrorJob(database: scratch.file("a.db"), tables: [table])
  }

  @Test("What has not changed is not sent, and touches nothing; --verify asks for all of it")
  func notModified() throws {
    let version = Atomic<Int>(1)
    let server = try HTTPTestServer { request in
      let tag = "\"v\(version.load(ordering: .relaxed))\""
      if request.headers["authorization"] != "Bearer secret" {
        return HTTPTestServer.status("401 Unauthorized")
      }
      if request.headers["if-none-match"] == tag {
        return HTTPTestServer.status("304 Not Modified", ["ETag: \(tag)"])
      }
      let count = version.load(ordering: .relaxed) == 1 ? 300 : 290
      return HTTPTestServer.whole(Self.csv(count), headers: ["ETag: \(tag)"])
    }
    var job = job(server)
    #expect(job.run().ledger.inserted == 300)
    let database = Database(job.database)
    let state = "SELECT count(*), total(id) FROM feed; SELECT state, exit_code FROM upsurge_runs"
    let before = try database.rows(state)
    let notes = RunNotes()
    let same = job.run(note: { notes.add($0.text) })
    #expect(!notes.all.contains { $0.contains("is empty") }, "\(notes.all)")
    #expect(same.exitCode == 0 && same.tables[0].loads.isEmpty && same.tables[0].unchangedSince != nil)
    #expect(try database.rows(state) == before)
    job.verifiesAll = true
    #expect(job.run().ledger.unchanged == 300)
    job.verifiesAll = false
    version.store(2, ordering: .relaxed)
    let next = job.run()
    #expect(next.exitCode == 0 && next.ledger.swept == 10 && next.ledger.unchanged == 290)
    // A table that somebody has emptied is filled again.
    try database.rows("DELETE FROM feed")
    #expect(job.run().ledger.inserted == 290)
    #expect(!String(decoding: try readFile(job.database), as: UTF8.self).contains("secret"))
  }

  @Test("What has not changed needs no trailer, unless it was read under another one")
  func trailer() throws {
    let server = try HTTPTestServer { request in
      request.headers["if-none-match"] != nil
        ? HTTPTestServer.status("304 Not Modified", ["ETag: \"v\""])
        : HTTPTestServer.whole(Self.csv(30) + Array("END 30\n".utf8), headers: ["ETag: \"v\""])
    }
    var job = job(server)
    job.tables[0].guards.trailer = "END {count}"
    #expect(job.run().ledger.inserted == 30)
    #expect(job.run().tables[0].unchangedSince != nil)
    job.tables[0].guards.trailer = "FIN {count}"
    #expect(job.run().exitCode == 65)
    #expect(server.requests.map { $0.headers["if-none-match"] != nil } == [false, true, false])
  }

  @Test("What the server has said of one URL is not asked of another")
  func otherURL() throws {
    // Of the other one it would say that nothing has changed.
    let server = try HTTPTestServer { request in
      if request.headers["if-none-match"] != nil || request.headers["if-modified-since"] != nil {
        return HTTPTestServer.status("304 Not Modified", ["ETag: \"v\""])
      }
      return HTTPTestServer.whole(Self.csv(request.path.hasSuffix("b") ? 7 : 5), headers: ["ETag: \"v\""])
    }
    var job = job(server)
    #expect(job.run().ledger.inserted == 5)
    job.tables[0].sources = [Source(server.url() + "b")]
    #expect(job.run().exitCode == 4)
    job.acceptsChanges = true
    #expect(job.run().ledger.inserted == 2)
  }

  @Test(
    "Headers belong to a feed that is asked with them, and to no other",
    arguments: ["HTTP://a/b", "feed.csv"])
  func headersOfOthers(source: String) {
    var table = MirrorTable(name: "feed", sources: [source])
    table.headers = ["X-Account": "1"]
    let first = FeedIdentity(table)
    table.headers = ["X-Account": "2"]
    let isRefused = !FeedIdentity(table).changes(from: first, fields: []).isEmpty
    #expect(isRefused == (source != "feed.csv"))
  }

  @Test("Other headers ask for all of it; those that name another feed are refused until that is confirmed")
  func otherHeaders() throws {
    // Each account has its own rows, and one tag for all of them.
    let server = try HTTPTestServer { request in
      if request.headers["if-none-match"] != nil {
        return HTTPTestServer.status("304 Not Modified", ["ETag: \"v\""])
      }
      let isOther = request.headers["authorization"] == "Bearer other" || request.headers["x-account"] == "2"
      return HTTPTestServer.whole(Self.csv(isOther ? 98 : 100), headers: ["ETag: \"v\""])
    }
    var job = job(server)
    job.tables[0].headers = ["Authorization": "Bearer one", "X-Account": "1"]
    #expect(job.run().ledger.inserted == 100)
    #expect(job.run().tables[0].unchangedSince != nil)
    // Spelled otherwise it is the same.
    job.tables[0].headers = ["authorization": "Bearer one", "x-account": "1"]
    #expect(job.run().tables[0].unchangedSince != nil)
    // A credential may be a new one, and is asked with anew.
    job.tables[0].headers["authorization"] = "Bearer other"
    let renewed = job.run()
    #expect(renewed.exitCode == 0 && renewed.ledger.swept == 2 && renewed.ledger.unchanged == 98)
    #expect(job.run().tables[0].unchangedSince != nil)
    job.tables[0].headers["authorization"] = "Bearer one"
    #expect(job.run().ledger.inserted == 2)
    // Another account is another feed.
    let database = Database(job.database)
    for value in ["2", nil] {
      job.tables[0].headers["x-account"] = value
      let refused = job.run()
      #expect(refused.exitCode == 4)
      #expect(
        refused.tables[0].error?.message
          == "the feed of table feed has changed: headers (other x-account)")
      #expect(try database.rows("SELECT count(*) FROM feed") == ["100"])
    }
    job.tables[0].headers["x-account"] = "2"
    job.acceptsChanges = true
    #expect(job.run().ledger.swept == 2)
    job.acceptsChanges = false
    #expect(job.run().tables[0].unchangedSince != nil)
    let file = String(decoding: try readFile(job.database), as: UTF8.self)
    #expect(!file.contains("Bearer"))
  }

  @Test("A feed that an earlier version has noted, without its headers, is the same feed")
  func earlierVersion() throws {
    let server = try HTTPTestServer { request in
      if request.headers["if-none-match"] != nil {
        return HTTPTestServer.status("304 Not Modified", ["ETag: \"v\""])
      }
      return HTTPTestServer.whole(Self.csv(100), headers: ["ETag: \"v\""])
    }
    var job = job(server)
    job.tables[0].headers["X-Account"] = "1"
    #expect(job.run().exitCode == 0)
    let database = Database(job.database)
    try database.rows("UPDATE upsurge_feeds SET feed = json_remove(feed, '$.headers')")
    let headers = "SELECT json_extract(feed, '$.headers') IS NULL FROM upsurge_feeds"
    #expect(try database.rows(headers) == ["1"])
    let next = job.run()
    #expect(next.exitCode == 0 && next.tables[0].unchangedSince != nil)
    #expect(try database.rows(headers) == ["0"])
    job.tables[0].headers["X-Account"] = "2"
    #expect(job.run().exitCode == 4)
  }

  @Test(
    "Cut at any byte, an answer that tells its length or its end takes no row away", arguments: [false, true])
  func cut(isChunked: Bool) throws {
    let whole = Self.csv(300)
    let sentCount = Atomic<Int>(whole.count)
    let server = try HTTPTestServer { _ in
      let count = sentCount.load(ordering: .relaxed)
      if count == whole.count { return HTTPTestServer.whole(whole) }
      let part = Array(whole.prefix(count))
      return isChunked
        ? HTTPTestServer.chunked(part, isWhole: false) : HTTPTestServer.whole(part, length: whole.count)
    }
    let job = job(server)
    #expect(job.run().exitCode == 0)
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    for _ in 0..<SeededGenerator.some(20, most: 200) {
      let count = Int.random(in: 0..<whole.count, using: &random)
      sentCount.store(count, ordering: .relaxed)
      let summary = job.run()
      let words = "seed \(seed), \(count) bytes: \(summary.exitCode)"
      #expect([3, 65, 66].contains(summary.exitCode), "\(words)")
      #expect(summary.tables[0].failure?.message.isEmpty == false, "\(words)")
      #expect(try Database(job.database).rows("SELECT count(*) FROM feed") == ["300"], "\(words)")
    }
    sentCount.store(whole.count, ordering: .relaxed)
    #expect(job.run().exitCode == 0)
  }

  @Test("The proxy of the environment is asked, but for hosts that no_proxy names")
  func proxy() throws {
    let proxy = try HTTPTestServer { request in
      request.path == "http://feeds.example/feed.csv"
        ? HTTPTestServer.whole(Self.csv(3)) : HTTPTestServer.status("404 Not Found")
    }
    let server = try HTTPTestServer { _ in HTTPTestServer.whole(Self.csv(4)) }
    let database = scratch.file("a.db")
    for (source, host, count) in [
      ("http://feeds.example/feed.csv", "other.example", 3), (server.url(), "127.0.0.1", 4),
    ] {
      let outcome = try Command.run(
        ["mirror", database, "--table", "feed\(count)", "--source", source, "--key", "id"],
        script: "http_proxy=\(proxy.url("")) no_proxy=\(host) exec \"$0\" \"$@\"")
      #expect(outcome.exitCode == 0, "\(outcome.talk)")
      #expect(try Database(database).rows("SELECT count(*) FROM feed\(count)") == ["\(count)"])
    }
    #expect(proxy.requests.count == 1 && server.requests.count == 1)
  }

  enum Fault: String, CaseIterable { case cutLength, cutChunked, cutInRecord, empty, gone, server }

  @Test("A body that is cut, empty or refused takes no row away", arguments: Fault.allCases)
  func faults(fault: Fault) throws {
    let isBroken = Atomic<Bool>(false)
    let whole = Self.csv(300)
    // In front of a record.
    let half = Array(whole.prefix(1 + (whole.prefix(2_000).lastIndex(of: 0x0A) ?? 0)))
    let server = try HTTPTestServer { _ in
      if !isBroken.load(ordering: .relaxed) { return HTTPTestServer.whole(whole) }
      switch fault {
      case .cutLength: return HTTPTestServer.whole(half, length: whole.count)
      case .cutChunked: return HTTPTestServer.chunked(half, isWhole: false)
      case .cutInRecord: return [HTTPTestServer.head("200 OK"), .send(Array(whole.dropLast(3)))]
      case .empty: return HTTPTestServer.whole([])
      case .gone: return HTTPTestServer.status("410 Gone")
      case .server: return HTTPTestServer.status("404 Not Found")
      }
    }
    let job = job(server)
    #expect(job.run().exitCode == 0)
    isBroken.store(true, ordering: .relaxed)
    let summary = job.run()
    #expect([3, 4, 65, 66].contains(summary.exitCode), "\(fault): \(summary.exitCode)")
    #expect(summary.tables[0].failure?.message.isEmpty == false)
    #expect(try Database(job.database).rows("SELECT count(*) FROM feed") == ["300"], "\(fault)")
    isBroken.store(false, ordering: .relaxed)
    #expect(job.run().exitCode == 0)
  }
}
