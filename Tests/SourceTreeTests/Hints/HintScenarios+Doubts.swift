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
      hints: ["the rest of the text is UTF-8: correct these bytes, or --on-error reject sets such records aside"],
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
      name: "doubt: a quote that is not closed among others",
      hints: [
        "--quotes lenient takes quotes inside a field as data; --escape C if quotes are escaped by C; --on-error reject sets the record aside"
      ],
      files: ["f.csv": "id,a\n1,\"x\"\n2,\"y\n3,\"z\"\n4,\"w\"\n"], first: load, firstExit: 65, steps: [.add("--on-error reject")],
      exits: [2], rows: ["1|'x'", "3|'z'", "4|'w'"]),
    HintScenario(
      name: "doubt: quotes that nothing makes sense of", hints: ["correct the quotes; --on-error reject sets the record aside until then"],
      files: ["f.csv": "id,a\n1,\"x\"\n2,\"y\n3,\"z\"\n4,\"w\"\n"], first: load + ["--quotes", "lenient"], firstExit: 65,
      steps: [.add("--on-error reject")], exits: [2], rows: ["1|'x'", "3|'z'", "4|'w'"]),
    HintScenario(
      name: "doubt: records without a header for a table that exists",
      hints: [
        "its records have no header: --no-header --names … names the fields; --header-lines 1 if the first record does"
      ],
      files: ["f.csv": "1,x\n2,y\n"], setup: "CREATE TABLE t(id INTEGER, a TEXT)", first: load, firstExit: 4,
      steps: [.add("--no-header --names [a-z,']+")], rows: ["1|'x'", "2|'y'"]),
    HintScenario(
      name: "doubt: numbers that are the names of the columns",
      hints: [
        "its records have no header: --no-header --names … names the fields; --header-lines 1 if the first record does"
      ],
      files: ["f.csv": "7,8\n1,2\n2,3\n"], setup: "CREATE TABLE t(\"7\", \"8\")", first: load, firstExit: 4,
      steps: [.add("--header-lines 1")], rows: ["'1'|'2'", "'2'|'3'"]),
    HintScenario(
      name: "doubt: a header that counts",
      hints: ["the first record is read as data, and could be a header that counts; --header-lines 1 reads it so"],
      files: ["f.csv": "name,1,2,3\nann,5,6,7\nbob,6,7,8\n"], first: load + ["--dry-run"], firstExit: 0,
      steps: [.leaveOut(["--dry-run"]), .add("--header-lines 1")], query: "SELECT name, \"2\" FROM t", rows: ["'ann'|6", "'bob'|7"]),
    HintScenario(
      name: "doubt: a first record that is there twice",
      hints: ["the first record is read as the header; --no-header reads it as a record"],
      files: ["f.csv": "ann,oslo\nann,oslo\nbob,rome\n"], first: load + ["--dry-run"], firstExit: 0,
      steps: [.leaveOut(["--dry-run"]), .add("--no-header")], rows: ["'ann'|'oslo'", "'ann'|'oslo'", "'bob'|'rome'"]),
    HintScenario(
      name: "doubt: the first record of a dump",
      hints: ["the first record is read as the header; --no-header reads it as a record"],
      files: ["f.csv": "ann\toslo\nbob\t\\N\n"], first: load + ["--dry-run", "--dialect", "postgres"], firstExit: 0,
      steps: [.leaveOut(["--dry-run"]), .add("--no-header")], rows: ["'ann'|'oslo'", "'bob'|NULL"]),
    HintScenario(
      name: "doubt: names below a title that has values",
      hints: [],
      files: ["f.csv": "Report;42;2031\nid;tree;m\n1;a;2\n2;b;3\n3;c;4\n"], first: load + ["--dry-run"], firstExit: 0,
      steps: [.leaveOut(["--dry-run"]), .add("--skip-lines 1")], query: "SELECT id, tree, m FROM t", rows: ["1|'a'|2", "2|'b'|3", "3|'c'|4"]),
    HintScenario(
      name: "doubt: a header of two records",
      hints: ["the names of the first two records are joined; --header-lines 1 takes those of the first one alone"],
      files: ["f.csv": "Trees by place\n\nid,height,girth,name\nno,m,cm,text\n1,2,3,a\n2,3,4,b\n3,4,5,c\n"],
      first: load + ["--dry-run"], firstExit: 0, steps: [.leaveOut(["--dry-run"]), .add("--header-lines 1")],
      query: "SELECT id, height FROM t WHERE id <> 'no'", rows: ["'1'|'2'", "'2'|'3'", "'3'|'4'"]),
    HintScenario(
      name: "doubt: two delimiters part all lines",
      hints: ["the delimiter is uncertain: … fits best, and … nearly as well; --delimiter … reads it so"],
      files: ["f.csv": "a;b,c\n1;2,3\n4;5,6\n"], first: load + ["--dry-run"], firstExit: 0,
      steps: [.leaveOut(["--dry-run"]), .add("--delimiter [a-z]+")], rows: ["'1;2'|3", "'4;5'|6"]),
  ]
}
