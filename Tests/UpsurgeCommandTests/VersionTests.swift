import TestSupport
import Testing
import Upsurge

@testable import UpsurgeCommand

@Suite("The version and the libraries")
struct VersionTests {
  @Test("--version is a line; with -v it names the libraries with their versions")
  func command() throws {
    #expect(try Command.run(["--version"]).output == upsurgeVersion + "\n")
    for words in [["--version", "-v"], ["--version", "--verbose"], ["-v", "--version"]] {
      let outcome = try Command.run(words)
      #expect(outcome.exitCode == 0 && outcome.talk.isEmpty, "\(outcome.talk)")
      #expect(outcome.output.hasPrefix("upsurge \(upsurgeVersion)\n"))
      for name in ["SQLite", "zstd", "zlib", "libcurl", "libarchive", "libyaml", "iconv"] {
        #expect(outcome.output.contains("\n  \(name) "), "\(name)")
      }
      #expect(outcome.output.contains(Connection.version))
    }
  }

  @Test("What is missing is said with what needs it, and how it is installed")
  func missing() {
    let text = VersionText(
      linked: [("SQLite", "3.40.1")],
      opened: [
        .init(
          name: "libcurl", version: nil, problem: "libcurl is not installed",
          need: "http:// and https:// sources",
          installation: "apt-get install libcurl4")
      ], iconv: "glibc 2.36", missingEncodings: ["BIG5"]
    ).text
    #expect(
      text == """
        upsurge \(upsurgeVersion)
          SQLite     3.40.1
          libcurl    missing                   for http:// and https:// sources
          iconv      glibc 2.36                for other encodings than UTF-8

        libcurl is missing: http:// and https:// sources need it (libcurl is not installed).
          fix: apt-get install libcurl4
        iconv does not know BIG5 here.
          fix: install the C library's gconv modules (Debian, Ubuntu: libc-gconv-modules-extra)
        """)
  }
}
