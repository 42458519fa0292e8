extension HintTable {
  private static let load = ["load", "d.db", "t", "f.csv"]

  /// What the file's marks are, and which lines are the table.
  static let csvDialectScenarios: [HintScenario] = [
    HintScenario(
      name: "dialect: columns that the file lacks",
      hints: ["its fields are: …"],
      files: ["f.csv": "id,a\n1,x\n"], first: load + ["--columns", "id,b"], firstExit: 64,
      steps: [.leaveOut(["id,b"]), .give(["id,a"])], rows: ["1|'x'"]),
    HintScenario(
      name: "dialect: two fields of one name",
      hints: ["give one of them another name: --rename …"],
      files: ["f.csv": "id,a\n1,x\n"], first: load + ["--rename", "a=id"], firstExit: 64,
      steps: [.leaveOut(["a=id"]), .give(["id=number"])], rows: ["1|'x'"]),
    HintScenario(
      name: "dialect: a blank behind each delimiter",
      hints: ["fields … with a blank, which is part of them; --delimiter … reads them without"],
      files: ["f.csv": "id,a,b\n1, x, y\n2, x, z\n3, v, w\n"], first: load + ["--dry-run"], firstExit: 0,
      steps: [.leaveOut(["--dry-run"]), .add("--delimiter '[^']*'")], rows: ["1|'x'|'y'", "2|'x'|'z'", "3|'v'|'w'"]),
    HintScenario(
      name: "dialect: a first line that names another delimiter",
      hints: [
        "the first line says that the delimiter is …, which is in no line: … parts the fields; --delimiter says another one"
      ],
      files: ["f.csv": "sep=,\nid;a\n1;x\n2;y\n"], first: load + ["--dry-run"], firstExit: 0,
      steps: [.leaveOut(["--dry-run"]), .give(["--delimiter", ";"])], rows: ["1|'x'", "2|'y'"]),
    HintScenario(
      name: "dialect: the header's texts stand below again",
      hints: [
        "the first record is read as data, as its texts stand in later records, too; --header-lines 1 reads it as the header"
      ],
      files: ["f.csv": "name,town\nname,Oslo\nOda,Moss\nPer,Bergen\n"], first: load + ["--dry-run"], firstExit: 0,
      steps: [.leaveOut(["--dry-run"]), .add("--header-lines 1")],
      query: "SELECT name, town FROM t", rows: ["'name'|'Oslo'", "'Oda'|'Moss'", "'Per'|'Bergen'"]),
    HintScenario(
      name: "dialect: quotes that fit nowhere",
      hints: [
        "the quotes do not match up, so they are read as data; --quote '\"' --quotes lenient reads them as quotes wherever they fit"
      ],
      files: ["f.csv": "id,a\n1,\"x\n2,\"y\" z\n3,\"a\"\n"], first: load + ["--dry-run"], firstExit: 0,
      steps: [.leaveOut(["--dry-run"]), .add("--quote '\"' --quotes lenient")], exits: [0, 2, 65],
      query: "SELECT count(*) > 1 FROM t", rows: ["1"]),
    HintScenario(
      name: "dialect: one field where another delimiter makes several",
      hints: ["each line is read as one field; --delimiter … makes … fields of most lines"],
      files: ["f.csv": "name x\nAnn Lee b\nBob c\nCleo d\nDan e\n"], first: load + ["--dry-run"],
      steps: [.leaveOut(["--dry-run"]), .add("--delimiter [a-z]+")], exits: [0, 65], query: "SELECT 1", rows: ["1"]),
    HintScenario(
      name: "dialect: another table in the middle",
      hints: [
        "line … seems to begin another table: ……. One table is read from a file: split it there, or --skip-lines … reads the other one"
      ],
      files: ["f.csv": "id,a\n1,x\n2,y\n\nname,city,zip\nAnn,Rome,1\nBob,Oslo,2\n"], first: load + ["--dry-run"],
      steps: [.leaveOut(["--dry-run"]), .add("--skip-lines [0-9]+")], rows: ["'Ann'|'Rome'|1", "'Bob'|'Oslo'|2"]),
    HintScenario(
      name: "dialect: two delimiters fit",
      hints: ["the delimiter is uncertain: … fits best, and … nearly as well; --delimiter … reads it so"],
      files: ["f.csv": "a,b|c,d\n1,2|3,4\n5,6|7,8\n9,8|7,6\n"], first: load + ["--dry-run"], firstExit: 0,
      steps: [.leaveOut(["--dry-run"]), .add("--delimiter [a-z]+")], rows: ["1|'2|3'|4", "5|'6|7'|8", "9|'8|7'|6"]),
  ]
}
