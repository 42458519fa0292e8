import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// Whoever may write into a drop folder has no other file read by a link there.
@Suite("Links in drop folders") struct FolderLinkTests {
  let scratch = Scratch()

  private func job(_ kind: MirrorTable.Kind, _ source: String) -> MirrorJob {
    var table = MirrorTable(name: "feed", sources: [source])
    table.kind = kind
    table.options.rules.key = ["id"]
    return MirrorJob(database: scratch.file("a.db"), tables: [table])
  }

  private func run(_ job: MirrorJob) -> (summary: MirrorSummary, warnings: [String]) {
    let notes = RunNotes()
    let summary = job.run(note: { if $0.level == .warning { notes.add($0.text) } })
    return (summary, notes.all)
  }

  @Test(
    "A link is not followed, which is said; the files beside it are taken",
    arguments: MirrorTable.Kind.allCases,
    [DropFolder.Done.leave, .delete])
  func links(kind: MirrorTable.Kind, done: DropFolder.Done) throws {
    let outside = scratch.write("id,v\n7,secret\n", to: "outside.csv")
    try FileManager.default.createDirectory(atPath: scratch.file("in"), withIntermediateDirectories: true)
    _ = scratch.write("id,v\n1,a\n", to: "in/1.csv")
    for (name, target) in [
      ("2.csv", outside), ("3.csv", "../outside.csv"), ("0.csv", "1.csv"), ("4.csv", "/no/such/file"),
      ("5.csv", ".."),
    ] {
      #expect(symlink(target, scratch.file("in/\(name)")) == 0)
    }
    #expect(mkfifo(scratch.file("in/6.csv"), 0o600) == 0)
    var job = job(kind, scratch.file("in"))
    job.tables[0].folder.done = done
    let first = run(job)
    #expect(first.summary.exitCode == 0 && first.summary.ledger.read == 1)
    #expect(try Database(job.database).rows("SELECT * FROM feed") == ["1|'a'"])
    #expect(
      first.warnings == [
        "\(scratch.file("in/0.csv")), and 4 other links: a symbolic link in a drop folder is not followed; put the file "
          + "itself there, or name the link as a source of its own"
      ])
    // Nothing is done with them, nor with what they lead to.
    #expect(access(outside, F_OK) == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.file("in")).contains("2.csv"))
    #expect(run(job).summary.ledger.read == 0)
  }

  @Test("A link that takes the place of a file which was listed is not read either")
  func race() throws {
    let outside = scratch.write("id,v\n7,secret\n", to: "outside.csv")
    try FileManager.default.createDirectory(atPath: scratch.file("in"), withIntermediateDirectories: true)
    #expect(symlink(outside, scratch.file("in/1.csv")) == 0)
    let path = scratch.file("in/1.csv")
    var load = LoadJob(database: scratch.file("a.db"), table: "feed", sources: [path])
    load.options.environment.question.foundFolders = [scratch.file("in/")]
    let summary = load.run()
    #expect(summary.exitCode == 66)
    #expect(
      summary.error?.description
        == "\(path) is a symbolic link, which is not followed in a folder\n  fix: put the file itself there, or name the "
        + "link as a source of its own")
    // A pipe there keeps nobody waiting.
    unlink(path)
    #expect(mkfifo(path, 0o600) == 0)
    #expect(load.run().error?.message == "\(path) is a device, pipe or socket, which is not read in a folder")
  }

  @Test(
    "Links that the job names, by themselves, by a glob or as the folder, are its own", arguments: [0, 1, 2])
  func named(index: Int) throws {
    try FileManager.default.createDirectory(atPath: scratch.file("real"), withIntermediateDirectories: true)
    try FileManager.default.createDirectory(atPath: scratch.file("in"), withIntermediateDirectories: true)
    let file = scratch.write("id,v\n1,a\n", to: "real/1.csv")
    #expect(symlink(file, scratch.file("in/1.csv")) == 0)
    #expect(symlink("real", scratch.file("folder")) == 0)
    let job = job(.delta, scratch.file(["in/1.csv", "in/*.csv", "folder"][index]))
    let done = run(job)
    #expect(done.summary.exitCode == 0 && done.summary.ledger.inserted == 1 && done.warnings.isEmpty)
  }
}
