import TestSupport
import Testing
import Upsurge
import UpsurgeMirror

@testable import UpsurgeCommand

/// What `upsurge status` says of deliveries that were refused.
@Suite("Status of refused deliveries") struct RefusedDeliveryStatusTests {
  let scratch = Scratch()

  private func job() -> MirrorJob {
    var table = MirrorTable(name: "feed", sources: [scratch.file("feed.csv")])
    table.options.rules.key = ["id"]
    table.options.rejects.onError = .reject
    table.sweep = .hard
    return MirrorJob(database: scratch.file("a.db"), tables: [table])
  }

  private func deliver(_ ids: some Sequence<Int>) {
    _ = scratch.write("id,v\n" + ids.map { "\($0),a\n" }.joined(), to: "feed.csv")
  }

  @Test(
    "Status prints the digest of the delivery that the last run has refused, and no line of the database's")
  func statusDigest() throws {
    let job = job()
    deliver(1...10)
    #expect(job.run().exitCode == 0)
    func refused() throws -> String {
      let summary = job.run()
      let digest = try #require(summary.tables[0].loads.last?.acceptance.refusedDigest)
      let feed = try #require(try FeedStatus.all(database: job.database).first)
      #expect(feed.refusedDelivery == digest)
      #expect(StatusText.text(feed, maximumAge: nil).hasSuffix("--accept-delivery \(digest)"))
      return digest
    }
    deliver(101...110)
    let first = try refused()
    deliver(1...7)
    #expect(try refused() != first)
    // The first one again, which is not the newest.
    deliver(101...110)
    #expect(try refused() == first)
    try Database(job.database).rows(
      "UPDATE upsurge_feeds SET delivered_at = 'x' || char(10) || 'ok    y', message = 'a' || char(10) || 'ok    z'"
    )
    let feed = try #require(try FeedStatus.all(database: job.database).first)
    #expect(!StatusText.text(feed, maximumAge: nil).split(separator: "\n").contains { $0.hasPrefix("ok") })
  }

  @Test("The page says when a table was last in step as the text does, also where it is only too old")
  func page() throws {
    let job = job()
    func look(maximumAge: Double? = nil) throws -> (text: String, page: String) {
      let feeds = try FeedStatus.all(database: job.database)
      let report = try MirrorReport(database: job.database, feeds: feeds, maximumAge: maximumAge)
      return (StatusText.text(try #require(feeds.first), maximumAge: maximumAge), report.html)
    }
    deliver(1...10)
    #expect(job.run().exitCode == 0)
    let good = try look()
    #expect(good.text.contains(": in step ") && good.page.contains("<p>In step "), "\(good)")
    let old = try look(maximumAge: -1)
    #expect(old.text.contains(": last in step ") && old.page.contains("<p>Last in step "), "\(old)")
    deliver(101...110)
    #expect(job.run().exitCode == 4)
    let refused = try look()
    #expect(refused.text.contains(": last in step ") && refused.page.contains("<p>Last in step "), "\(refused)")
    #expect(!refused.page.contains("<p>In step "))
  }
}
