extension HintTable {
  private static let load = ["load", "d.db", "t", "f.csv"]

  /// What a reading leaves open.
  static let doubtScenarios: [HintScenario] = [
    HintScenario(
      name: "doubt: a late number that is only written otherwise", hints: ["; in a new table --type … keeps every digit"],
      prepare: "{ echo id,v,pad; seq 2500 | sed \"s/$/,1.5,$(printf %500s x)/\"; echo 2501,3.10,; } > f.csv", first: load,
      firstExit: 0, steps: [.sql("DROP TABLE t"), .add("--type v:TEXT")],
      query: "SELECT id, v FROM t WHERE v <> '1.5'", rows: ["2501|'3.10'"]),
    HintScenario(
      name: "doubt: a line with slashes", hints: ["--comment '//' leaves out lines that begin with //"],
      files: ["f.csv": "id,a\n1,x\n// later\n2,y\n"], first: load, firstExit: 65, steps: [.add("--comment '//'")],
      rows: ["1|'x'", "2|'y'"]),
    HintScenario(
      name: "doubt: a line with # after blanks", hints: ["--comment '#' leaves out lines that begin with #"],
      files: ["f.csv": "id,a\n1,x\n  # later\n2,y\n"], first: load, firstExit: 65, steps: [.add("--comment '#'")],
      rows: ["1|'x'", "2|'y'"]),
    HintScenario(
      name: "doubt: bytes that are not UTF-8 in a text that is",
      hints: ["the rest of the text is UTF-8: mend these bytes, or --on-error reject sets such records aside"],
      prepare: "{ echo id,a; echo 1,mål; echo 2,gård; echo 3,småland; printf '4,ros\\351\\n5,x\\n'; } > f.csv", first: load,
      firstExit: 65, steps: [.add("--on-error reject")], exits: [2],
      rows: ["1|'mål'", "2|'gård'", "3|'småland'", "5|'x'"]),
    HintScenario(
      name: "doubt: NULL as MySQL and PostgreSQL write it",
      hints: [
        "fields are \\N, which is read as text; --dialect mysql or --dialect postgres reads it as NULL, and undoes escapes such as \\n"
      ],
      files: ["f.csv": "1\tx\\ty\n2\t\\N\n"], first: load + ["--dry-run", "--no-header"], firstExit: 0,
      steps: [.leaveOut(["--dry-run"]), .add("--dialect mysql")], rows: ["1|'x\ty'", "2|NULL"]),
    HintScenario(
      name: "doubt: NULL as \\N in a file with commas",
      hints: ["fields are \\N, which is read as text; --null '\\N' reads it as NULL"],
      files: ["f.csv": "id,a\n1,x\n2,\\N\n"], first: load + ["--dry-run"], firstExit: 0,
      steps: [.leaveOut(["--dry-run"]), .add("--null '.N'")], rows: ["1|'x'", "2|NULL"]),
    HintScenario(
      name: "doubt: a header that looks like a title",
      hints: [
        "line … is left out as a title, and the records have no header; --skip-lines … --header-lines 1 reads it as the header"
      ],
      files: ["f.csv": "id,name\n7,ann,x,y,5\n8,bob,z,w,6\n9,cyd,z,w,6\n"], first: load + ["--dry-run"], firstExit: 0,
      steps: [.leaveOut(["--dry-run"]), .add("--skip-lines 0 --header-lines 1")], query: "SELECT id, name, column_5 FROM t",
      rows: ["7|'ann'|5", "8|'bob'|6", "9|'cyd'|6"]),
    HintScenario(
      name: "doubt: lines that stand in quotes as a whole",
      hints: [],
      files: ["f.csv": "\"id,tree,n\"\n\"1,\"\"alder, x\"\",2\"\n\"2,birch,3\"\n"], first: load + ["--dry-run"], firstExit: 0,
      steps: [.shell("sed 's/^\"//; s/\"$//; s/\"\"/\"/g' f.csv | upsurge load d.db t -")],
      rows: ["1|'alder, x'|2", "2|'birch'|3"]),
    HintScenario(
      name: "doubt: two delimiters part all lines",
      hints: ["the delimiter is not sure: … fits best, and … nearly as well; --delimiter … reads it so"],
      files: ["f.csv": "a;b,c\n1;2,3\n4;5,6\n"], first: load + ["--dry-run"], firstExit: 0,
      steps: [.leaveOut(["--dry-run"]), .add("--delimiter [a-z]+")], rows: ["'1;2'|3", "'4;5'|6"]),
  ]
}
