extension HintTable {
  /// Writes a zip archive; each pair is a name and its content.
  private static func zip(_ members: [(name: String, text: String)]) -> String {
    let calls = members.map { "z.writestr('\($0.name)', '\($0.text.replacing("\n", with: "\\n"))')" }
    return
      "python3 -c \"import zipfile; z = zipfile.ZipFile('f.zip', 'w'); \((calls + ["z.close()"]).joined(separator: "; "))\""
  }

  private static let two = "id,a\n1,x\n2,y\n"

  private static func archive(
    _ name: String, _ hints: [String], _ members: [(name: String, text: String)], _ source: String,
    exit: Int32,
    then next: HintScenario.Step
  ) -> HintScenario {
    HintScenario(
      name: "archive: \(name)", hints: hints, prepare: zip(members), first: ["load", "d.db", "t", source],
      firstExit: exit,
      steps: [next], query: "SELECT * FROM t", rows: ["1|'x'", "2|'y'"])
  }

  private static func load(_ source: String) -> HintScenario.Step { .run(["load", "d.db", "t", source]) }

  /// Which files of an archive are meant.
  static let archiveScenarios: [HintScenario] = [
    archive(
      "files of several tables", ["name those of one table, such as …, or a pattern for several"],
      [("a.csv", two), ("b.csv", "q\n1\n")], "f.zip", exit: 65, then: load("f.zip/a.csv")),
    archive(
      "a text beside the table", ["name those of one table, such as …, or a pattern for several"],
      [("README.txt", "Read me first.\nThis is text.\n"), ("a.csv", two)], "f.zip", exit: 65,
      then: load("f.zip/a.csv")),
    archive(
      "a document beside the table", ["name …, or …"], [("b.pdf", "%PDF-1.4 x"), ("a.csv", two)], "f.zip", exit: 65,
      then: load("f.zip/*.csv")),
    archive(
      "a document beside a table without an ending", ["name …"], [("b.pdf", "%PDF-1.4 x"), ("a", two)], "f.zip", exit: 65,
      then: load("f.zip/a")),
    HintScenario(
      name: "archive: an archive in it", hints: ["unpack …, and load …"],
      prepare: zip([("a.csv", two)]) + "; mv f.zip in.zip; python3 -m zipfile -c f.zip in.zip && mv in.zip gone.zip",
      first: ["load", "d.db", "t", "f.zip/in.zip"], firstExit: 65,
      steps: [.shell("python3 -m zipfile -e f.zip . && upsurge load d.db t in.zip")], query: "SELECT * FROM t",
      rows: ["1|'x'", "2|'y'"]),
    archive(
      "a folder in it", ["name its files: …/…/*.csv"], [("d/a.csv", two)], "f.zip/d", exit: 66,
      then: load("f.zip/d/*.csv")),
    archive(
      "no such file", ["it holds: …"], [("a.csv", two)], "f.zip/b.csv", exit: 66, then: load("f.zip/a.csv")),
    archive(
      "hidden files only", ["name a member, such as …: links and hidden files are left out"],
      [(".a.csv", two)], "f.zip", exit: 65,
      then: load("f.zip/.a.csv")),
    HintScenario(
      name: "archive: a file that is none", hints: ["name the file itself: …"], files: ["f.csv": two],
      first: ["load", "d.db", "t", "f.csv/a.csv"], firstExit: 66, steps: [load("f.csv")],
      query: "SELECT * FROM t",
      rows: ["1|'x'", "2|'y'"]),
    HintScenario(
      name: "archive: from a pipe", hints: ["save it to a file first, and load that file"],
      prepare: zip([("a.csv", two)]),
      first: ["load", "d.db", "t", "exec:cat f.zip"], firstExit: 65, steps: [load("f.zip")],
      query: "SELECT * FROM t",
      rows: ["1|'x'", "2|'y'"]),
  ]
}
