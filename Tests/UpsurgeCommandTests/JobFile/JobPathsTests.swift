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
    let source = Source(source)
    #expect(source.isURL && source.foreignScheme == nil)
    #expect(JobPaths(file: "/jobs/job.yaml").resolve(source) == source)
    #expect(SourceFault.of(source) == nil)
  }

  @Test(
    "Others are what they are opened as",
    arguments: [
      ("exec:ls", Source.Kind.command, nil), ("sqlite:a.db#t", .database, nil), ("-", .standardInput, nil),
      ("ftp://host/a", .file, "ftp"), ("httpx://host/a", .file, "httpx"), ("http:/a.csv", .file, nil),
      ("a/http://b", .file, nil), ("EXEC:ls", .file, nil), ("Sqlite:a.db#t", .file, nil),
    ])
  func others(source: String, kind: Source.Kind, scheme: String?) {
    let source = Source(source)
    #expect(source.kind == kind && source.foreignScheme == scheme)
    #expect((SourceFault.of(source) != nil) == (scheme != nil))
  }
}
