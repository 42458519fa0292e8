import TestSupport
import Testing
import Upsurge

@testable import UpsurgeCommand

/// YAML becomes a tree in which each key and value has its place.
@Suite("YAML of job files")
struct JobYAMLTests {
  /// Each line is a value or a key with its place.
  private func lines(_ node: JobNode, indent: String = "") -> [String] {
    let place = "\(node.place.line):\(node.place.column)"
    switch node.content {
    case .nothing: return ["\(indent)\(place) nothing\(node.isNullWord ? " by name" : "")"]
    case .text(let text): return ["\(indent)\(place) \(node.isPlain ? "plain" : "quoted") \(text)"]
    case .list(let nodes):
      return ["\(indent)\(place) list"] + nodes.flatMap { lines($0, indent: indent + "  ") }
    case .mapping(let entries):
      return ["\(indent)\(place) mapping"]
        + entries.flatMap { entry in
          ["\(indent)  \(entry.keyPlace.line):\(entry.keyPlace.column) key \(entry.key)"]
            + lines(entry.value, indent: indent + "    ")
        }
    }
  }

  @Test("Values, keys and their places")
  func tree() throws {
    let text = """
      \u{FEFF}%TAG !t! tag:yaml.org,2002:
      ---
      é: &x [a, "b c", 'null', null, ~, !!str null, &y word]   # *c
      "tables":
      - |
        a *b
        c
      -
        d e
         f
      - g: h
      null: !!map {}
      j: !t!int 7
      ? k
      """
    let root = try #require(try JobYAML.read(text, file: "job.yaml"))
    #expect(
      lines(root).joined(separator: "\n") == """
        3:1 mapping
          3:1 key é
            3:4 list
              3:8 plain a
              3:11 quoted b c
              3:18 quoted null
              3:26 nothing by name
              3:32 nothing
              3:35 quoted null
              3:47 plain word
          4:1 key tables
            5:1 list
              5:3 quoted a *b
        c

              9:3 plain d e f
              11:3 mapping
                11:3 key g
                  11:6 plain h
          12:1 key null
            12:7 mapping
          13:1 key j
            13:4 plain 7
          14:3 key k
            14:3 nothing
        """)
  }

  @Test("No document is nothing", arguments: ["", "\n", "# a\n\n  # b", "\u{FEFF}"])
  func nothing(text: String) throws {
    #expect(try JobYAML.read(text, file: "job.yaml") == nil)
  }

  /// A text with its lines, as libyaml counts them.
  private struct Lines {
    var lines: [[Unicode.Scalar]]

    init(_ text: String) {
      let text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
      lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        .map { Array($0.unicodeScalars) }
    }

    /// The end of a text is the beginning of a line to libyaml.
    func has(line: Int, column: Int) -> Bool {
      if line == lines.count + 1 { return column == 1 }
      return lines.indices.contains(line - 1) && (1...lines[line - 1].count + 1).contains(column)
    }

    func letter(at place: JobPlace) -> Unicode.Scalar? {
      let line = lines[place.line - 1]
      return place.column <= line.count ? line[place.column - 1] : nil
    }
  }

  /// What is wrong with the places of a tree: outside of the text, before the one before, or at a letter with which what
  /// stands there cannot begin.
  private func faults(_ node: JobNode, in lines: Lines, after last: inout JobPlace) -> [String] {
    var faults: [String] = []
    func look(_ place: JobPlace, _ begins: [Unicode.Scalar]) {
      guard lines.has(line: place.line, column: place.column) else {
        return faults.append("\(place) is outside")
      }
      if (place.line, place.column) < (last.line, last.column) { faults.append("\(place) is before \(last)") }
      last = place
      // What stands before a value is part of it.
      guard let letter = lines.letter(at: place), !begins.isEmpty else { return }
      if !(begins + ["!", "&"]).contains(letter) { faults.append("\(letter) at \(place), not \(begins)") }
    }
    switch node.content {
    case .nothing: look(node.place, [])
    case .text(let text):
      look(node.place, node.isPlain ? Array(text.unicodeScalars.prefix(1)) : ["\"", "'", "|", ">"])
    case .list(let nodes):
      look(node.place, ["[", "-"])
      for node in nodes { faults += self.faults(node, in: lines, after: &last) }
    case .mapping(let entries):
      look(node.place, [])
      for entry in entries {
        look(
          entry.keyPlace, entry.key.isEmpty ? [] : entry.key.unicodeScalars.prefix(1) + ["\"", "'", "|", ">"])
        faults += self.faults(entry.value, in: lines, after: &last)
      }
    }
    return faults
  }

  @Test("Places in thousands of changed files are those of what they are of")
  func places() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    var (readCount, refusedCount) = (0, 0)
    for round in 0..<4_000 {
      let bytes = JobFileBytesTests.changed(round: round, using: &random)
      guard let text = String(validating: bytes, as: UTF8.self) else { continue }
      let lines = Lines(text)
      switch Result(catching: { () throws(UpsurgeError) in try JobYAML.read(text, file: "job.yaml") }) {
      case .success(let root):
        guard let root else { continue }
        var last = JobPlace(file: "job.yaml", line: 1, column: 1)
        let faults = faults(root, in: lines, after: &last)
        try #require(faults.isEmpty, "seed \(seed), round \(round): \(faults)\n\(text)")
        readCount += 1
      case .failure(let error):
        let numbers = error.position?.file.split(separator: ":").dropFirst().compactMap { Int($0) } ?? []
        let isPlaced = numbers.count == 2 && lines.has(line: numbers[0], column: numbers[1])
        try #require(isPlaced, "seed \(seed), round \(round): \(error)\n\(text)")
        refusedCount += 1
      }
    }
    #expect(readCount > 500 && refusedCount > 500, "seed \(seed): \(readCount), \(refusedCount)")
  }

  @Test("A missing bracket is told before what it makes of the rest")
  func syntaxFirst() {
    let error = #expect(throws: UpsurgeError.self) {
      try JobYAML.read("a: {b: c, d], b: e}\n", file: "job.yaml")
    }
    #expect(error?.position?.file == "job.yaml:1:12")
    let twice = #expect(throws: UpsurgeError.self) {
      try JobYAML.read("a: {b: c, b: d], e: f}\n", file: "job.yaml")
    }
    #expect(
      twice?.description.hasPrefix("this is no YAML: ") == true && twice?.position?.file == "job.yaml:1:15")
  }

  @Test("Control characters are told by their line and column")
  func control() {
    let error = #expect(throws: UpsurgeError.self) {
      try JobYAML.read("a: é\r\nb: e\u{301}\u{7F}\n", file: "job.yaml")
    }
    #expect(
      error?.description == "this is no YAML: control characters are not allowed (U+7F)\n  at job.yaml:2:6")
  }

  @Test("Without libyaml only job files cannot be read", .enabled(if: isLinux))
  func notInstalled() throws {
    let scratch = Scratch()
    // The system finds this one first, and it is no library.
    _ = scratch.write("", to: "libyaml-0.so.2")
    let job = scratch.write("tables: {t: {source: a.csv}}\n", to: "job.yaml")
    let rows = scratch.write("id\n1\n", to: "a.csv")
    let script = "export LD_LIBRARY_PATH='\(scratch.path)'; exec \"$0\" \"$@\""
    let mirror = try Command.run(["mirror", scratch.file("a.db"), job], script: script)
    #expect(
      mirror.talk == """
        upsurge: cannot read job files: libyaml is not installed
          fix: install it: apt-get install libyaml-0-2 (Debian, Ubuntu), dnf install libyaml (Fedora)

        """)
    #expect(mirror.exitCode == 66)
    let load = try Command.run(["load", scratch.file("a.db"), "t", rows], script: script)
    #expect(load.exitCode == 0, "\(load.talk)")
  }

  private static var isLinux: Bool {
    #if os(Linux)
      true
    #else
      false
    #endif
  }
}
