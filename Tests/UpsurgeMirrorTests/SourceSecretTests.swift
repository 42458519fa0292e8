import TestSupport
import Testing
import Upsurge
import UpsurgeMirror

/// What a job is given may hold a password, which no text has that is made of the job or of its run.
@Suite("Secrets in the sources of jobs") struct SourceSecretTests {
  private let scratch = Scratch()

  @Test("A job that is printed or dumped shows its sources without their passwords")
  func dumps() {
    let source: Source = "https://user:hunter2@host/a.csv?token=hunter2"
    var texts: [String] = []
    func add(_ value: some Any) {
      var text = "\(value)" + String(reflecting: value)
      dump(value, to: &text)
      texts.append(text)
    }
    add(LoadJob(database: "a.db", table: "t", sources: [source]))
    add(LoadJob(database: "a.db", table: "t", sources: ["https://user:hunter2@host/a.csv" as String]))
    add(InspectJob(source: source))
    let table = MirrorTable(name: "t", sources: [source])
    add(table)
    add(MirrorJob(database: "a.db", tables: [table]))
    for text in texts { #expect(text.contains("https://***@host/a.csv") && !text.contains("hunter2"), "\(text)") }
  }

  @Test("A load goes by what is shown of its command, whether it works or fails", arguments: ["cat", "exit 3;"])
  func loads(command: String) throws {
    let path = scratch.write("id\n7\n", to: "a.csv")
    let source = Source("exec:\(command) '\(path)' # hunter2", shown: "exec:${env:COMMAND}")
    let job = LoadJob(database: scratch.file("a.db"), table: "t", sources: [source])
    let summary = job.run()
    #expect(summary.sources == ["exec:${env:COMMAND}"] && (summary.error == nil) == (command == "cat"))
    let texts = [String(decoding: summary.json, as: UTF8.self), summary.error?.description ?? ""]
    for text in texts { #expect(!text.contains("hunter2"), "\(text)") }
    guard command == "cat" else { return }
    #expect(summary.ledger.inserted == 1)
    let stored = String(decoding: try readFile(job.database), as: UTF8.self)
    #expect(!stored.contains("hunter2"))
  }
}
