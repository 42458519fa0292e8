import Testing
import Upsurge

@testable import UpsurgeCommand

/// What a source of a job file is, by how it begins: the same as to who opens it.
@Suite("Sources of job files") struct JobPathsTests {
  @Test(
    "A URL is one in any case, and is not looked for beside the job file",
    arguments: [
      "http://host/a.csv", "HTTP://host/a.csv", "HtTpS://host/a.csv", "https://host",
      "http://\u{301}host/a.csv",
    ])
  func urls(source: String) {
    #expect(JobPaths.kind(of: source) == .url && SourceName.isURL(source))
    let resolved = JobPaths(file: "/jobs/job.yaml").resolve(source: source, shown: source)
    #expect(resolved.source == source && resolved.shown == source)
    #expect(SourceFault.of(source) == nil)
  }

  @Test(
    "Others are what they are opened as",
    arguments: [
      ("exec:ls", JobPaths.SourceKind.command), ("sqlite:a.db#t", .database), ("-", .standardInput),
      ("ftp://host/a", .unknown("ftp")), ("httpx://host/a", .unknown("httpx")), ("http:/a.csv", .path),
      ("a/http://b", .path), ("EXEC:ls", .path), ("Sqlite:a.db#t", .path),
    ])
  func others(source: String, kind: JobPaths.SourceKind) {
    #expect(JobPaths.kind(of: source) == kind)
    #expect((kind == .command) == (SourceName.command(of: source) != nil))
    #expect((kind == .database) == SourceName.isDatabase(source))
  }
}
