import Testing
import UpsurgeInput
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite("SourceList: files, globs, standard input")
struct SourceListTests {
  /// The texts by which the sources are opened that some arguments stand for.
  private func expand(_ arguments: [String]) throws -> [String] {
    try SourceList.expand(arguments.map { Source($0) }).map(\.opening.text)
  }

  @Test("globs are sorted by bytes, everything else keeps its place")
  func expandsGlobs() throws {
    let folder = try TemporaryFolder()
    for name in ["b.csv", "a.csv", "B.csv", "é.csv", ".hidden.csv", "c.tsv"] { try folder.write(name, "x") }
    let path = folder.path
    #expect(
      try expand(["\(path)/c.tsv", "\(path)/*.csv", "-", "\(path)/[ab].csv"]) == [
        "\(path)/c.tsv", "\(path)/B.csv", "\(path)/a.csv", "\(path)/b.csv", "\(path)/é.csv", "-",
        "\(path)/a.csv", "\(path)/b.csv",
      ])
    #expect(try expand([]) == [])
    #expect(try expand(["/dev/stdin"]) == ["/dev/stdin"])
    #expect(try expand(["\(path)/?.tsv"]) == ["\(path)/c.tsv"])
  }

  @Test("a file whose name looks like a glob is that file")
  func prefersLiteralNames() throws {
    let folder = try TemporaryFolder()
    try folder.write("1.csv", "no")
    let literal = try folder.write("[1].csv", "yes")
    let star = try folder.write("*.csv", "yes")
    #expect(try expand([literal, star]) == [literal, star])
  }

  @Test("what a glob finds is a file, whatever it is called")
  func takesFilesForFiles() throws {
    let folder = try TemporaryFolder()
    try folder.write("exec:echo id", "id\n7\n")
    let found = try SourceList.expand([Source(folder.path + "/exec*")])
    #expect(found.map(\.kind) == [.file] && found.map(\.opening.text) == [folder.path + "/exec:echo id"])
    for (path, opened) in [
      ("exec:echo id", "./exec:echo id"), ("-", "./-"), ("http://h", "./http://h"), ("a.csv", "a.csv"),
      ("sqlite:a#b", "./sqlite:a#b"), ("/a/exec:b", "/a/exec:b"),
    ] {
      let source = Source(file: path)
      #expect(source.opening == .file(path: opened) && source.name == opened)
      // Its name is stored, and means the same file then.
      #expect(Source(source.name) == source)
    }
  }

  @Test("what cannot be read is said in whole sentences")
  func reportsProblems() throws {
    let folder = try TemporaryFolder()
    let path = folder.path
    let inner = folder.makeFolder("year=2026")
    var buffer = [CChar](repeating: 0, count: 4096)
    let here = getcwd(&buffer, buffer.count).map { String(cString: $0) } ?? ""
    let table: [(argument: String, code: UpsurgeError.Code, text: String)] = [
      ("\(path)/none.csv", .unreadableInput, "there is no file \(path)/none.csv\n  fix: check the path"),
      (
        "surely/not/here.csv", .unreadableInput,
        "there is no file surely/not/here.csv\n  fix: check the path; it was looked for in \(here)"
      ),
      (inner, .unreadableInput, "\(inner) is a directory\n  fix: name its files: \(inner)/*.csv"),
      (inner + "//", .unreadableInput, "\(inner)// is a directory\n  fix: name its files: \(inner)/*.csv"),
      ("/", .unreadableInput, "/ is a directory\n  fix: name its files: /*.csv"),
      ("\(path)/year*", .unreadableInput, "\(inner) is a directory\n  fix: name its files: \(inner)/*.csv"),
      ("\(path)/*.csv", .unreadableInput, "no file matches \(path)/*.csv\n  fix: check the pattern"),
      (
        "surely-not-*.csv", .unreadableInput,
        "no file matches surely-not-*.csv\n  fix: check the pattern; it was tried in \(here)"
      ),
      ("", .unreadableInput, "there is no file \n  fix: check the path; it was looked for in \(here)"),
    ]
    for (argument, code, text) in table {
      let error = try #require(throws: UpsurgeError.self) { try expand([argument]) }
      #expect(error.code == code)
      #expect(error.description == text)
    }
  }

  @Test("standard input can be named once", arguments: [["-", "-"], ["-", "/dev/stdin"]])
  func refusesStandardInputTwice(arguments: [String]) throws {
    let error = try #require(throws: UpsurgeError.self) { try expand(arguments) }
    #expect(error.code == .usage)
    #expect(
      error.description == "standard input is named twice, but can be read only once\n  fix: name - once")
  }
}
