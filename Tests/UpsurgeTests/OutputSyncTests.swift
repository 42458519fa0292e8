#if os(Linux)
  import Foundation
  import TestSupport
  import Testing
  import Upsurge

  /// What a power loss may not take.
  @Suite("Outputs on the disk")
  struct OutputSyncTests {
    let scratch = Scratch()

    @Test(
      "Rejects and changes are on the disk before the rows of their transaction, and so are the names of the files"
    )
    func order() throws {
      let database = scratch.file("a.db")
      try Database(database).rows("PRAGMA journal_mode=WAL; CREATE TABLE t(id INTEGER, b TEXT)")
      let source = scratch.write(
        "id,b\n" + (1...50).map { $0 % 5 == 0 ? "\($0)\n" : "\($0),x\n" }.joined(), to: "a.csv")
      var options = LoadOptions()
      options.rejects.onError = .reject
      options.transaction.durability = .full
      options.transaction.commitEvery = 10
      options.rejects.path = scratch.file("bad.ndjson")
      options.output.changesPath = scratch.file("changes.ndjson")
      let folder = try #require(realpath(scratch.path, nil).map { String(cString: $0) })
      let synced = SyncLog.files(under: folder) {
        let job = LoadJob(database: database, table: "t", sources: [source], options: options)
        #expect(job.run().exitCode == 2)
      }
      #expect(synced.prefix(4) == ["/bad.ndjson", "", "/changes.ndjson", ""], "\(synced)")
      // With FULL each commit syncs the log, and the first one the log's folder.
      var files: [String] = []
      for file in synced where !file.isEmpty && file != files.last { files.append(file) }
      let commit = ["/bad.ndjson", "/changes.ndjson", "/a.db-wal"]
      #expect(Array(files.prefix(15)) == Array(repeatElement(commit, count: 5).joined()), "\(synced)")
      #expect(!files.dropFirst(15).contains("/bad.ndjson"), "\(synced)")
    }
  }
#endif
