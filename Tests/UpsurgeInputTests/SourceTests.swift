import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeInput

@Suite("Source: what it is, what is shown of it, and what tells it from others")
struct SourceTests {
  @Test(
    "The kind of every spelling",
    arguments: [
      ("-", Source.Opening.standardInput("-")), ("/dev/stdin", .standardInput("/dev/stdin")),
      ("/dev/fd/0", .standardInput("/dev/fd/0")), ("/proc/self/fd/0", .standardInput("/proc/self/fd/0")),
      ("a.csv", .file(path: "a.csv")), ("/a/*.csv", .file(path: "/a/*.csv")), ("", .file(path: "")),
      ("./-", .file(path: "./-")), ("/dev/fd/3", .file(path: "/dev/fd/3")), ("in/", .file(path: "in/")),
      ("http://h", .url("http://h")), ("HTTPS://u:p@h/a b", .url("HTTPS://u:p@h/a b")),
      ("http:/h", .file(path: "http:/h")), ("./http://h", .file(path: "./http://h")),
      ("ftp://h/a", .file(path: "ftp://h/a")), ("s3://b/k", .file(path: "s3://b/k")),
      ("exec:ls | cat", .command("ls | cat")), ("exec:", .command("")), ("EXEC:ls", .file(path: "EXEC:ls")),
      ("exec:e\u{301}x", .command("e\u{301}x")), ("program:orders", .program("program:orders")),
      ("sqlite:a.db#t", .database("sqlite:a.db#t", DatabaseSource("sqlite:a.db#t"))),
      ("sqlite:a.db", .database("sqlite:a.db", nil)), ("sqlite:#t", .database("sqlite:#t", nil)),
      (
        "sqlite:a.db?query=SELECT '#'",
        .database("sqlite:a.db?query=SELECT '#'", DatabaseSource("sqlite:a.db?query=SELECT '#'"))
      ),
      ("Sqlite:a.db#t", .file(path: "Sqlite:a.db#t")),
    ] as [(String, Source.Opening)])
  func kinds(text: String, opening: Source.Opening) {
    let source = Source(text)
    #expect(source.opening == opening && source.opening.text == text)
    let isFeed = [.url, .command, .database, .program].contains(source.kind)
    #expect(source.isFeed == isFeed && (source.filePath != nil) == (source.kind == .file))
    // What is stored of it means the same.
    #expect(Source(source.name).kind == source.kind)
  }

  @Test(
    "Where other words stand for a secret, a feed goes by them, and a file by its path",
    arguments: [
      ("https://u:p@h/a", "https://${env:U}@h/a", "https://***@h/a", "https://***@h/a"),
      ("https://h/hunter2", "https://h/${env:P}", "https://h/${env:P}", "https://h/${env:P}"),
      ("HTTPS://h/hunter2", "${env:URL}", "HTTPS://${env:URL}", "${env:URL}"),
      ("exec:x -phunter2", "exec:x -p${env:P}", "exec:x -p${env:P}", "exec:x -p${env:P}"),
      ("exec:x -phunter2", "${env:COMMAND}", "exec:${env:COMMAND}", "${env:COMMAND}"),
      ("sqlite:hunter2.db#t", "sqlite:${env:D}#t", "sqlite:${env:D}#t", "sqlite:${env:D}#t"),
      ("sqlite:hunter2.db#t", "${env:D}", "sqlite:${env:D}", "${env:D}"),
      ("/in/hunter2.csv", "/in/${env:F}.csv", "/in/hunter2.csv", "/in/${env:F}.csv"),
      ("-", "${env:IN}", "-", "${env:IN}"),
    ])
  func reworded(text: String, label: String, name: String, shown: String) {
    let source = Source(text, shown: label)
    #expect(source.isReworded && source.hidesSecrets && source.label == label)
    #expect(source.name == name && source.shown == shown && source.description == shown)
    #expect(!Source(text, shown: text).isReworded && Source(text, shown: text) == Source(text))
  }

  @Test("A mask hides what other sources have put in, where a source has no words of its own")
  func masks() {
    let first = Source("https://h/hunter2/a.csv", shown: "https://h/${env:T}/a.csv")
    let mask = SecretMask(sources: [first], values: ["hunter2": "${env:T}"])
    #expect(first.hidden(by: mask) == first)
    let second = Source("exec:cat hunter2").hidden(by: mask)
    #expect(second.name == "exec:cat ${env:T}" && second.opening == .command("cat hunter2"))
    #expect(Source("hunter2.csv").hidden(by: mask).name == "hunter2.csv")
  }

  @Test("A relative path is put into a folder")
  func folders() {
    for (text, label, expected, expectedLabel) in [
      ("a.csv", "a.csv", "in/a.csv", "in/a.csv"), ("/a.csv", "${env:F}", "/a.csv", "${env:F}"),
      ("hunter2.csv", "${env:F}.csv", "in/hunter2.csv", "in/${env:F}.csv"), ("-", "-", "-", "-"),
      ("sqlite:a.db#t", "sqlite:${env:D}", "sqlite:in/a.db#t", "sqlite:in/${env:D}"),
      ("sqlite:a.db?query=SELECT 1", "${env:D}", "sqlite:in/a.db?query=SELECT 1", "${env:D}"),
      ("sqlite:/a.db#t", "sqlite:/a.db#t", "sqlite:/a.db#t", "sqlite:/a.db#t"),
      ("exec:cat a.csv", "exec:cat a.csv", "exec:cat a.csv", "exec:cat a.csv"),
      ("http://h/a", "http://h/a", "http://h/a", "http://h/a"),
    ] {
      let source = Source(text, shown: label).starting(in: "in/")
      #expect(source.opening.text == expected && source.label == expectedLabel)
      #expect(Source(text, shown: label).starting(in: "").opening.text == text)
    }
  }

  @Test("Its place is the same however it is spelled, and without its secrets")
  func places() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("a.csv", "id\n")
    let alike: [[Source]] = [
      [Source(path), Source(folder.path + "/./a.csv"), Source(folder.path + "//a.csv", shown: "${env:F}")],
      ["-", "/dev/stdin", "/proc/self/fd/0"],
      ["https://u:p@h/a?token=1", "https://x:y@h/a?token=2", "https://***@h/a?token=***"],
      [Source("sqlite:\(path)#t"), Source("sqlite:\(folder.path)/./a.csv#t")],
      [Source("exec:x -p1", shown: "exec:x -p${env:P}"), Source("exec:x -p2", shown: "exec:x -p${env:P}")],
    ]
    for sources in alike { #expect(Set(sources.map(\.place)).count == 1, "\(sources)") }
    #expect(Set(alike.map { $0[0].place }).count == alike.count)
    for source in alike.joined() { #expect(SourceName.place(of: source.place) == source.place) }
    #expect(Source("https://u:p@h/a") != "https://x:y@h/a" && Source("a.csv") == "a.csv")
    #expect(Source("sqlite:a.db#t").place != Source("sqlite:a.db#u").place)
  }

  @Test(
    "No text that is made of a source holds its password", arguments: SeededGenerator.some(of: UInt64(80)))
  func secrets(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let (raw, encoded) = Self.password(&random)
    let (plain, reworded) = Self.sources(raw, encoded)
    for source in plain + reworded {
      var texts = [
        "\(source)", String(describing: source), String(reflecting: source), "\([source])",
        "\(Optional(source) as Any)",
        "\(source.opening)", String(reflecting: source.opening), source.shown, source.label,
      ]
      if source.kind == .file { texts.removeLast() } else { texts += [source.name, source.place] }
      if source.isReworded { texts.append(source.label) }
      var dumped = ""
      dump(source, to: &dumped)
      dump([source: [source]], to: &dumped)
      dump(source.opening, to: &dumped)
      texts.append(dumped)
      for text in texts {
        #expect(!text.contains(raw) && !text.contains(encoded), "\(seed): \(raw) in \(text)")
      }
      #expect(source.opening.text.contains(raw) || source.opening.text.contains(encoded))
    }
  }

  /// A password as it may stand anywhere, and one of any bytes as it stands in a URL.
  private static func password(_ random: inout SeededGenerator) -> (raw: String, encoded: String) {
    let letters = Array("abcXYZ0123456789-._~!*+,=$")
    let raw =
      "hunter"
      + String(
        (0..<Int.random(in: 4...20, using: &random)).map { _ in letters.randomElement(using: &random)! })
    let bytes = (0..<Int.random(in: 6...20, using: &random)).map { _ in
      UInt8.random(in: 1...255, using: &random)
    }
    let encoded = bytes.map { byte in
      let digits = String(byte, radix: 16, uppercase: Bool.random(using: &random))
      return "%" + (digits.utf8.count == 1 ? "0" : "") + digits
    }
    return (raw, encoded.joined())
  }

  /// Sources of every kind that hold one of them.
  private static func sources(_ raw: String, _ encoded: String) -> (plain: [Source], reworded: [Source]) {
    let plain = [raw, encoded].flatMap { password in
      [
        "https://user:\(password)@host/a.csv", "HTTP://\(password)@host:8080/a?x=1",
        "https://h/a?day=1&api_key=\(password)&x=2",
        "https://h/a;jsessionid=\(password)/b", "https://h/a#access_token=\(password)",
        "ftp://u:\(password)@h/a.csv",
        "exec:curl -s 'https://u:\(password)@h/a?token=1' | cat",
        "exec:curl https://h/a?signature=\(password)",
      ].map { Source($0) }
    }
    let reworded = [raw, encoded].flatMap { password in
      [
        Source("exec:mysql -p\(password) shop", shown: "exec:mysql -p${env:P} shop"),
        Source("exec:\(password)", shown: "${env:P}"),
        Source("https://h/\(password)/a", shown: "https://h/${env:P}/a"),
        Source("sqlite:/\(password).db#t", shown: "sqlite:/${env:P}.db#t"),
        Source("/\(password)/a", shown: "/${env:P}/a"),
        Source("sqlite:a?query=SELECT '\(password)'", shown: "sqlite:a?query=SELECT '${env:P}'"),
      ]
    }
    return (plain, reworded)
  }
}
