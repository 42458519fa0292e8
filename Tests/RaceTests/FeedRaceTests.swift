import TestSupport
import Testing
import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

private typealias Server = HTTPTestServer

/// The threads that feed a load from a server or a command, for ThreadSanitizer.
@Suite("Threads of a feed")
struct FeedRaceTests {
  let folder = RaceFolder()

  static let body: [UInt8] = {
    var text = "id,a\n"
    for id in 0..<20_000 { text += "\(id),text \(id % 7)\n" }
    return Array(text.utf8)
  }()

  private func load(_ source: String, cancelledAfter microseconds: UInt32? = nil) throws -> RunSummary {
    var options = LoadOptions()
    options.rules.key = ["id"]
    options.transaction.commitEvery = .records(1_000)
    let control = RunControl()
    let canceller = try WorkerThread {
      guard let microseconds else { return }
      usleep(microseconds)
      control.cancel(signal: 15)
    }
    let job = LoadJob(database: folder.path + "/a.db", table: "t", sources: [source], options: options)
    let summary = job.run(control: control)
    canceller.join()
    #expect(summary.ledger.isBalanced)
    return summary
  }

  @Test("A body that breaks, a server that is busy, and one that is whole", arguments: [0, 1, 2])
  func fetches(breaks: Int) throws {
    let body = Self.body
    let server = try Server { request in
      let start = request.rangeStart ?? 0
      let headers = ["ETag: \"a\""]
      let whole =
        start > 0 ? Server.rest(body, from: start, headers: headers) : Server.whole(body, headers: headers)
      return request.index < breaks ? [whole[0], .send(Array(body[start...].prefix(100_000)))] : whole
    }
    let summary = try load(server.url())
    #expect(summary.exitCode == 0 && summary.ledger.inserted == 20_000, "\(summary.error?.description ?? "")")
  }

  @Test("A cancellation from another thread at any moment", arguments: 1...8 as ClosedRange<UInt64>)
  func cancels(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let body = Self.body
    let server = try Server { _ in
      [Server.head("200 OK", ["Content-Length: \(body.count + 1)"]), .send(body), .hold]
    }
    let name = seed % 2 == 0 ? server.url() : "exec:echo id,a; i=0; while :; do i=$((i+1)); echo $i,x; done"
    let summary = try load(name, cancelledAfter: UInt32.random(in: 0...400_000, using: &generator))
    #expect(summary.signal == 15 && summary.error == nil, "\(summary.error?.description ?? "")")
  }
}
