import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// What `${env:NAME}` in a job file stands for leaves the process in no text.
@Suite("Secrets in the sources of mirrors") struct MirrorSecretTests {
  let scratch = Scratch()

  private static let secret = "Geheim-hunter2"

  /// Sources of table `feed`, and whether they work; of `#` a server is the place.
  private static let sources: [(source: String, works: Bool)] = [
    // It says the secret itself: in a line, and in one that does not end.
    ("exec:echo cannot log in with ${env:PW} >&2; printf 'and not as ${env:PW}' >&2; exit 3", false),
    (#"exec:: ${env:PW}; echo ${env:PW} is deprecated >&2; printf 'id,v\n1,a\n2,b,c\n3,d\n'"#, true),
    ("${env:COMMAND}", false),
    ("#/${env:PW}/there.csv", true),
    ("#/${env:PW}/gone.csv", false),
    // It redirects to itself.
    ("#/${env:PW}/moved.csv", false),
    ("${env:BASE}/gone.csv", false),
    ("${env:PW}/feed.csv", false),
    ("${env:PW}/*.csv", false),
    ("sqlite:${env:PW}.db#t", false),
    ("sqlite:other.db#${env:PW}", true),
  ]

  @Test(
    "A secret is neither shown nor stored, whether the source works or fails",
    arguments: MirrorSecretTests.sources.indices,
    ["table", "bad.ndjson"])
  func hidden(index: Int, rejects: String) throws {
    let (source, works) = Self.sources[index]
    let server = try HTTPTestServer { request in
      if request.path.hasSuffix("gone.csv") { return HTTPTestServer.status("404 Not Found") }
      if request.path.hasSuffix("moved.csv") {
        return HTTPTestServer.status("302 Found", ["Location: \(request.path)"])
      }
      return HTTPTestServer.whole(Array("id,v\n1,a\n2,b,c\n3,d\n".utf8), headers: ["ETag: \"v\""])
    }
    // The table beside it makes the database, so that the failure of this one is stored.
    let job = scratch.write(
      """
      defaults: { on-error: reject, key: id }
      tables:
        beside: { source: beside.csv }
        feed:
          rejects: \(rejects)
          source: |-
            \(source.replacing("#/", with: server.url("/")))
      """, to: "job.yaml")
    _ = scratch.write("id,v\n1,a\n", to: "beside.csv")
    _ = try Database(scratch.file("other.db")).rows(
      "CREATE TABLE \"\(Self.secret)\" (id, v); INSERT INTO \"\(Self.secret)\" VALUES (1, 'a'), (NULL, 'b')")
    let script = """
      cd '\(scratch.path)' || exit 99
      export PW=\(Self.secret) BASE=\(server.url("/\(Self.secret)"))
      export COMMAND="exec:exit 3 # $PW"
      exec "$0" "$@"
      """
    let database = scratch.file("a.db")
    var texts: [String] = []
    for words in [
      ["mirror", database, job, "-v", "--summary", "s.json", "--metrics", "m.prom"],
      ["mirror", database, job, "-v", "--log", "json", "--summary", "-", "--verify"],
    ] {
      let outcome = try Command.run(words, script: script)
      #expect((works ? [0, 2] : [3, 65, 66]).contains(outcome.exitCode), "\(source): \(outcome.talk)")
      texts += [outcome.output, outcome.talk]
    }
    for words in [["status", database], ["runs", database], ["mirror", database, job, "--check-job"]] {
      let outcome = try Command.run(words, script: script)
      texts += [outcome.output, outcome.talk]
    }
    for text in texts { #expect(!text.contains(Self.secret), "\(text)") }
    // What stands for it is told with what went wrong.
    #expect(works || texts[1].contains("${env:"), "\(texts[1])")
    var seen: Set<String> = []
    for name in try FileManager.default.contentsOfDirectory(atPath: scratch.path)
    where name != "other.db" {
      let bytes = try readFile(scratch.file(name))
      seen.insert(name)
      let isClean = !String(decoding: bytes, as: UTF8.self).contains(Self.secret)
      #expect(isClean, "\(name)")
    }
    #expect(seen.isSuperset(of: ["a.db", "s.json", "m.prom"]), "\(seen)")
    let namesSource = String(decoding: try readFile(database), as: UTF8.self).contains("${env:")
    #expect(namesSource)
  }

  @Test("Where a file behind a secret is warned of, that is told by its shown name")
  func warnings() throws {
    let path = scratch.write("id,v\n1,a\n\n2,b\n", to: "hunter2.csv")
    var table = MirrorTable(name: "feed", sources: [Source(path, shown: scratch.file("${env:NAME}.csv"))])
    table.secrets = ["hunter2": "${env:NAME}"]
    table.options.rules.key = ["id"]
    let summary = MirrorJob(database: scratch.file("a.db"), tables: [table]).run()
    #expect(
      summary.tables[0].loads[0].warnings.entries.map(\.first.file) == [scratch.file("${env:NAME}.csv")])
    let text = String(decoding: summary.json, as: UTF8.self)
    #expect(text.contains("blank-line") && !text.contains("hunter2"), "\(text)")
  }

  @Test("A new password is the same job, and a whole source may be a secret")
  func identity() throws {
    let (first, second) = ("exec:printf 'id,v\\n1,a\\n' # first", "exec:printf 'id,v\\n1,b\\n' # second")
    var table = MirrorTable(name: "feed", sources: [Source(first, shown: "${env:COMMAND}")])
    table.secrets = [first: "${env:COMMAND}"]
    table.options.rules.key = ["id"]
    var job = MirrorJob(database: scratch.file("a.db"), tables: [table])
    #expect(job.run().exitCode == 0)
    let database = Database(job.database)
    let stored = try database.rows("SELECT feed FROM upsurge_feeds; SELECT job FROM upsurge_runs")
    job.tables[0].sources = [Source(second, shown: "${env:COMMAND}")]
    job.tables[0].secrets = [second: "${env:COMMAND}"]
    let next = job.run()
    #expect(next.exitCode == 0 && next.ledger.updated == 1, "\(next.tables[0].failure?.message ?? "")")
    #expect(next.tables[0].loads[0].sources == ["exec:${env:COMMAND}"])
    #expect(stored.allSatisfy { $0.contains("exec:${env:COMMAND}") }, "\(stored)")
  }

  /// A feed whose URL or path holds a secret.
  private func job(_ source: String, shown: String, secret: String) -> MirrorJob {
    var table = MirrorTable(name: "feed", sources: [Source(source, shown: shown)])
    table.secrets = [secret: shown]
    table.options.rules.key = ["id"]
    table.sweep = .hard
    return MirrorJob(database: scratch.file("a.db"), tables: [table])
  }

  private static func csv(_ count: Int) -> [UInt8] {
    Array(("id,v\n" + (0..<count).map { "\($0),value \($0)\n" }.joined()).utf8)
  }

  @Test("What was noted of a delivery is not taken for that of another tenant behind the same secret")
  func otherTenant() throws {
    // Each tenant has its own rows, and one tag for all of them.
    let server = try HTTPTestServer { request in
      if request.headers["if-none-match"] != nil || request.headers["if-modified-since"] != nil {
        return HTTPTestServer.status("304 Not Modified", ["ETag: \"v\""])
      }
      return HTTPTestServer.whole(
        Self.csv(request.path.contains("tenant-b") ? 98 : 100), headers: ["ETag: \"v\""])
    }
    func run(_ tenant: String) -> (summary: MirrorSummary, warnings: [String]) {
      let notes = RunNotes()
      let job = job(
        server.url("/\(tenant).csv"), shown: server.url("/${env:TENANT}.csv"), secret: tenant)
      let summary = job.run(note: { if $0.level == .warning { notes.add($0.text) } })
      return (summary, notes.all)
    }
    #expect(run("first").summary.ledger.inserted == 100)
    let same = run("first")
    #expect(same.summary.tables[0].unchangedSince != nil && same.warnings.isEmpty, "\(same.warnings)")
    let other = run("tenant-b")
    #expect(other.summary.exitCode == 0 && other.summary.ledger.unchanged == 98)
    #expect(other.summary.ledger.swept == 2)
    #expect(
      other.warnings == [
        "table feed: the value of ${…} in its source has changed, so all of it is read; if that is another feed "
          + "and no new password, rows of the former one are swept, as far as the guards allow"
      ])
    // From now on that is what is known.
    let again = run("tenant-b")
    #expect(again.summary.tables[0].unchangedSince != nil && again.warnings.isEmpty)
    #expect(server.requests.map { $0.headers["if-none-match"] != nil } == [false, true, false, true])
  }

  @Test("A new password in a URL is no refusal, and asks for all of it")
  func newPassword() throws {
    let server = try HTTPTestServer { request in
      request.headers["if-none-match"] != nil
        ? HTTPTestServer.status("304 Not Modified", ["ETag: \"v\""])
        : HTTPTestServer.whole(Self.csv(100), headers: ["ETag: \"v\""])
    }
    func run(_ password: String) -> MirrorSummary {
      let source = { (word: String) in server.url().replacing("http://", with: "http://user:\(word)@") }
      return job(source(password), shown: source("${env:PW}"), secret: password).run()
    }
    #expect(run("first-word").ledger.inserted == 100)
    #expect(run("first-word").tables[0].unchangedSince != nil)
    let next = run("second-word")
    #expect(next.exitCode == 0 && next.ledger.unchanged == 100)
    #expect(run("second-word").tables[0].unchangedSince != nil)
    let bytes = String(decoding: try readFile(scratch.file("a.db")), as: UTF8.self)
    #expect(!bytes.contains("-word"))
  }

  @Test("A file in another place behind the same secret is read, and its own from then on")
  func otherFile() throws {
    let path = scratch.write(Self.csv(100), to: "one.csv")
    let other = scratch.write(Self.csv(100), to: "two.csv")
    let shown = scratch.file("${env:NAME}.csv")
    #expect(job(path, shown: shown, secret: "one").run().ledger.inserted == 100)
    #expect(job(path, shown: shown, secret: "one").run().tables[0].unchangedSince != nil)
    #expect(job(other, shown: shown, secret: "two").run().ledger.unchanged == 100)
    #expect(job(other, shown: shown, secret: "two").run().tables[0].unchangedSince != nil)
  }
}
