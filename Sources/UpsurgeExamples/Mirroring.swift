import Foundation
import UpsurgeMirror

extension Example {
  static let mirroring = [
    Example(name: "job", files: ["feed.csv": "Symbol,Name\nA,Agilent\nB,Barnes\n"], run: mirrorFile),
    Example(name: "runner", files: ["feed.csv": "Symbol,Name\nA,Agilent\n"], run: mirrorInBackground),
  ]
}

private func mirrorFile() throws {
  var members = MirrorTable(name: "members", sources: ["feed.csv"])
  members.options.rules.key = ["Symbol"]
  members.sweep = .hard
  let job = MirrorJob(database: "shop.db", tables: [members])
  let summary = job.run()
  print(summary.tables[0].ledger.inserted, summary.exitCode)

  // The next night one member is gone, which is more than a tenth of them.
  try "Symbol,Name\nA,Agilent\n".write(toFile: "feed.csv", atomically: true, encoding: .utf8)
  let next = job.run()
  print(next.tables[0].ledger.unchanged, next.tables[0].ledger.swept, next.exitCode)
}

private func mirrorInBackground() async throws {
  func show(_ event: MirrorRunner.Event) {}
  var members = MirrorTable(name: "members", sources: ["feed.csv"])
  members.options.rules.key = ["Symbol"]
  let job = MirrorJob(database: "shop.db", tables: [members])

  let runner = MirrorRunner(job)  // a MirrorJob
  Task { for await event in runner.events { show(event) } }
  try runner.start(every: .seconds(3600))  // now, and an hour after each end
  let summary = try await runner.runNow()  // once more, when no other run is at work
  await runner.stop()  // at a commit

  print(summary?.exitCode ?? 0)
}
