extension HintTable {
  /// French text as DOS writes it.
  private static let dos: [UInt8] =
    Array("id,name\n1,M".utf8) + [0x82] + Array("l".utf8) + [0x8A] + Array("ze for".utf8) + [0x88] + Array("t\n2,Ch".utf8)
    + [0x88] + Array("ne\n3,o".utf8) + [0x97] + Array(" ".utf8) + [0x87] + Array("a\n4,M".utf8) + [0x81] + Array("ller\n".utf8)
  private static func text(
    _ name: String, _ hints: [String], _ bytes: [UInt8], _ options: [String] = [], setup: String = "", exit: Int32? = nil,
    steps: [HintScenario.Step], exits: Set<Int32> = [0], query: String = "SELECT * FROM t", rows: [String]
  ) -> HintScenario {
    HintScenario(
      name: name, hints: hints, bytes: ["f.csv": bytes], setup: setup, first: ["load", "d.db", "t", "f.csv"] + options,
      firstExit: exit, steps: steps, exits: exits, query: query, rows: rows)
  }

  /// 400 records in windows-1252, the last one alone with a letter of it.
  private static let late: [UInt8] =
    Array(("id,a\n" + (1...9_000).map { "\($0),\(String(repeating: "x", count: 150))\n" }.joined() + "9001,caf").utf8) + [0xE9, 0x0A]

  /// Texts in encodings that are not, or cannot be, guessed.
  static let encodingScenarios: [HintScenario] = [
    text(
      "encoding: several fit", ["choose the encoding in which this line is right: ", "--encoding … reads it as \"…\""],
      Array("id,a\n1,".utf8) + [0xB0, 0xA1, 0xB3, 0xAA] + Array("\n2,".utf8) + [0xC0, 0xCC, 0x0A], exit: 65,
      steps: [.give(["--encoding", "euc-kr"])], query: "SELECT * FROM t", rows: ["1|'가나'", "2|'이'"]),
    text(
      "encoding: a mark says another", ["--encoding …, or auto"],
      [0xFF, 0xFE] + Array("id,a\n1,x\n".utf16).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }, ["--encoding", "utf-8"],
      exit: 65, steps: [.leaveOut(["utf-8", "--encoding"]), .add("--encoding utf-16le")], rows: ["1|'x'"]),
    text(
      "encoding: in the middle of a load",
      ["…; with other options it is another job, from the first record: …"], late, ["--commit-every", "300"], exit: 3,
      steps: [.give(["--encoding", "windows-1252"]), .printedSQL("DROP TABLE t"), .again],
      query: "SELECT count(*), max(a) FILTER (WHERE id = 9001) FROM t", rows: ["9001|'café'"]),
    text(
      "encoding: in the middle of a load with a key",
      ["…; with other options it is another job, from the first record: …"], late, ["--commit-every", "300", "--key", "id"],
      exit: 3, steps: [.add("--encoding windows-1252")],
      query: "SELECT count(*), max(a) FILTER (WHERE id = 9001) FROM t", rows: ["9001|'café'"]),
    text(
      "encoding: the header has the bad bytes", ["name the file's true encoding with --encoding, or its fields with --names A,B,C"],
      Array("id,caf".utf8) + [0xFF, 0xFF] + Array("\n1,x\n".utf8), ["--encoding", "utf-8"], exit: 65,
      steps: [.give(["--names", "id,a", "--skip-lines", "1"])], rows: ["1|'x'"]),
    HintScenario(
      name: "encoding: text of DOS", hints: ["; --encoding NAME reads it in another one"],
      bytes: ["f.csv": dos], first: ["load", "d.db", "t", "f.csv"], firstExit: 0,
      steps: [.sql("DROP TABLE t"), .give(["--encoding", "cp437"])],
      rows: ["1|'Mélèze forêt'", "2|'Chêne'", "3|'où ça'", "4|'Müller'"]),
  ]
}
