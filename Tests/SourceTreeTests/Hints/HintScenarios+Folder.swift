extension HintTable {
  private static func job(_ settings: String, above: String = "") -> String {
    above + "tables:\n  t: {source: in, key: [id]\(settings)}\n"
  }
  private static let first = "id,a\n1,x\n"
  private static let bounded = "atomic: bounded\n"
  private static let stopping = ", on-error: stop, commit-every: 1"

  /// A folder whose first file was taken, and what comes then.
  private static func folder(
    _ name: String, _ hint: String, _ settings: String, above: String = "", _ then: String, exit: Int32 = 0,
    steps: [HintScenario.Step], rows: [String]
  ) -> HintScenario {
    HintScenario(
      name: "folder: " + name, hints: [hint], files: ["j.yaml": job(settings, above: above), "1.csv": first],
      prepare: "mkdir in; mv 1.csv in; upsurge mirror d.db j.yaml 2>/dev/null; \(then)",
      first: ["mirror", "d.db", "j.yaml"], firstExit: exit, steps: steps, rows: rows)
  }

  /// Files that are dropped into a folder.
  static let folderScenarios: [HintScenario] = [
    folder(
      "a file that stays hidden", "its records are in the table: delete it, or move it away", "",
      "mv in/1.csv in/.upsurge-999999999-1.csv; printf 'id,a\\n1,y\\n2,z\\n' > in/1.csv",
      steps: [.shell("rm in/.upsurge-*"), .again], rows: ["1|'y'", "2|'z'"]),
    folder(
      "no folder for files that are done", "make that folder", ", folder: {done: {move: done}}",
      "printf 'id,a\\n2,y\\n' > in/2.csv",
      steps: [.shell("mkdir done"), .again, .shell("test -f done/2.csv && test ! -f in/2.csv")], rows: ["1|'x'", "2|'y'"]),
    folder(
      "changes that were stored in part, and the file is put back",
      "put that file back, corrected, or deliver the next one", ", kind: delta" + stopping, above: bounded,
      "printf 'id,a\\n2,y\\n3\\n' > in/2.csv; upsurge mirror d.db j.yaml 2>/dev/null; rm in/2.csv", exit: 4,
      steps: [.shell("printf 'id,a\\n2,y\\n3,z\\n' > in/2.csv"), .again], rows: ["1|'x'", "2|'y'", "3|'z'"]),
    folder(
      "changes that were stored in part, and the next file comes",
      "put that file back, corrected, or deliver the next one", ", kind: delta" + stopping, above: bounded,
      "printf 'id,a\\n2,y\\n3\\n' > in/2.csv; upsurge mirror d.db j.yaml 2>/dev/null; rm in/2.csv", exit: 4,
      steps: [.shell("printf 'id,a\\n2,v\\n3,w\\n' > in/3.csv"), .again], rows: ["1|'x'", "2|'v'", "3|'w'"]),
    folder(
      "a snapshot that was stored in part, and the one before is put back",
      "put … back into the folder, or deliver a newer file", ", sweep: hard" + stopping, above: bounded,
      "printf 'id,a\\n2,y\\n3\\n' > in/2.csv; upsurge mirror d.db j.yaml 2>/dev/null; rm in/2.csv; mv in/1.csv .", exit: 4,
      steps: [.shell("mv 1.csv in"), .again], rows: ["1|'x'"]),
    folder(
      "a snapshot that was stored in part, and a newer one comes",
      "put … back into the folder, or deliver a newer file", ", sweep: hard, guards: {max-delete: 100%}" + stopping,
      above: bounded,
      "printf 'id,a\\n2,y\\n3\\n' > in/2.csv; upsurge mirror d.db j.yaml 2>/dev/null; rm in/*.csv", exit: 4,
      steps: [.shell("printf 'id,a\\n5,v\\n' > in/3.csv"), .again], rows: ["5|'v'"]),
  ]
}
