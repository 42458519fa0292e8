extension HintTable {
  private static let load = ["load", "d.db", "t", "f.csv"]
  /// One record of so many fields: c1 is 1.
  private static func wide(_ count: Int) -> String {
    (1...count).map { "c\($0)" }.joined(separator: ",") + "\n" + (1...count).map(String.init).joined(separator: ",") + "\n"
  }

  /// Records that do not fit the table.
  static let csvScenarios: [HintScenario] = [
    HintScenario(
      name: "csv: a record that is cut is filled up",
      hints: ["--ragged pad fills the missing fields with NULL; --on-error reject sets the record aside"],
      files: ["f.csv": "id,a,b\n1,x,y\n2,x\n"], first: load, firstExit: 65, steps: [.add("--ragged pad")],
      rows: ["1|'x'|'y'", "2|'x'|NULL"]),
    HintScenario(
      name: "csv: a record that is cut is set aside",
      hints: ["--ragged pad fills the missing fields with NULL; --on-error reject sets the record aside"],
      files: ["f.csv": "id,a,b\n1,x,y\n2,x\n"], first: load, firstExit: 65, steps: [.add("--on-error reject")],
      exits: [2], rows: ["1|'x'|'y'"]),
    HintScenario(
      name: "csv: a line that is no record is set aside",
      hints: [
        "--on-error reject sets the line aside if it is no record; --ragged pad stores it as one, with NULL in all other fields"
      ],
      files: ["f.csv": "id,a,b\n1,x,y\nPart two\n2,x,z\n"], first: load, firstExit: 65, steps: [.add("--on-error reject")],
      exits: [2], rows: ["1|'x'|'y'", "2|'x'|'z'"]),
    HintScenario(
      name: "csv: a line of one field is a record",
      hints: [
        "--on-error reject sets the line aside if it is no record; --ragged pad stores it as one, with NULL in all other fields"
      ],
      files: ["f.csv": "id,a,b\n1,x,y\n2\n3,x,z\n"], first: load, firstExit: 65, steps: [.add("--ragged pad")],
      rows: ["1|'x'|'y'", "2|NULL|NULL", "3|'x'|'z'"]),
    HintScenario(
      name: "csv: shifted quotes are mended",
      hints: ["correct the quotes, which stand inside of fields; --on-error reject sets the record aside until then"],
      files: ["f.csv": "id,a,b\n1,x,y\n2,v \"w, z\",u\n3,x,z\n"], first: load, firstExit: 65,
      steps: [.write("f.csv", "id,a,b\n1,x,y\n2,\"v w, z\",u\n3,x,z\n"), .again],
      rows: ["1|'x'|'y'", "2|'v w, z'|'u'", "3|'x'|'z'"]),
    HintScenario(
      name: "csv: a record with shifted quotes is set aside",
      hints: ["correct the quotes, which stand inside of fields; --on-error reject sets the record aside until then"],
      files: ["f.csv": "id,a,b\n1,x,y\n2,v \"w, z\",u\n3,x,z\n"], first: load, firstExit: 65,
      steps: [.add("--on-error reject")], exits: [2], rows: ["1|'x'|'y'", "3|'x'|'z'"]),
    HintScenario(
      name: "csv: surplus fields that are empty are dropped",
      hints: ["--ragged pad drops surplus fields that are empty; --on-error reject sets the record aside"],
      files: ["f.csv": "id,a\n1,x\n2,y,,\n"], first: load, firstExit: 65, steps: [.add("--ragged pad")],
      rows: ["1|'x'", "2|'y'"]),
    HintScenario(
      name: "csv: a record with surplus fields that are empty is set aside",
      hints: ["--ragged pad drops surplus fields that are empty; --on-error reject sets the record aside"],
      files: ["f.csv": "id,a\n1,x\n2,y,,\n"], first: load, firstExit: 65, steps: [.add("--on-error reject")],
      exits: [2], rows: ["1|'x'"]),
    HintScenario(
      name: "csv: surplus fields get a column",
      hints: ["--ragged extra keeps surplus fields in a column of their own; --on-error reject sets the record aside"],
      files: ["f.csv": "id,a\n1,x\n2,y,z\n"], first: load, firstExit: 65, steps: [.add("--ragged extra")],
      rows: ["1|'x'|NULL", "2|'y'|'[\"z\"]'"]),
    HintScenario(
      name: "csv: a record with surplus fields is set aside",
      hints: ["--ragged extra keeps surplus fields in a column of their own; --on-error reject sets the record aside"],
      files: ["f.csv": "id,a\n1,x\n2,y,z\n"], first: load, firstExit: 65, steps: [.add("--on-error reject")],
      exits: [2], rows: ["1|'x'"]),
    HintScenario(
      name: "csv: surplus fields get a column, and the file has one of that name",
      hints: ["give the field another name: --rename …"],
      files: ["f.csv": "id,extra\n1,x\n2,y,z\n"], first: load + ["--ragged", "extra"], firstExit: 64,
      steps: [.give(["--rename", "extra=more"])],
      query: "SELECT id, more, extra FROM t", rows: ["1|'x'|NULL", "2|'y'|'[\"z\"]'"]),
    HintScenario(
      name: "csv: a line that is a comment",
      hints: ["--comment '#' leaves out lines that begin with #"],
      files: ["f.csv": "id,a,b\n1,x,y\n# a note\n2,x,z\n"], first: load, firstExit: 65,
      steps: [.add("--comment '#'")],
      rows: ["1|'x'|'y'", "2|'x'|'z'"]),
    HintScenario(
      name: "csv: a comment among records that begin with #",
      hints: ["--comment '# ' leaves out lines that begin with # and a blank"],
      files: ["f.csv": "tag,n,m\n#a,1,2\n# pause\n#b,2,3\nc,3,4\n"], first: load, firstExit: 65,
      steps: [.add("--comment '# '")], rows: ["'#a'|1|2", "'#b'|2|3", "'c'|3|4"]),
    HintScenario(
      name: "csv: a later file without a header",
      hints: [
        "if it has no header, load it by itself: --no-header --names …; else load it into a table of its own"
      ],
      files: ["f.csv": "name,town\nOda,Moss\n", "g.csv": "Siv,Oslo\n"], first: load + ["g.csv"], firstExit: 65,
      steps: [.run(load), .run(["load", "d.db", "t", "g.csv", "--no-header", "--names", "name, town"])],
      rows: ["'Oda'|'Moss'", "'Siv'|'Oslo'"]),
    HintScenario(
      name: "csv: a footer is set aside",
      hints: ["--on-error reject stores the records and sets this line aside"],
      files: ["f.csv": "id,a\n1,x\n2,y\n(2 rows)\n"], first: load, firstExit: 65, steps: [.add("--on-error reject")],
      exits: [2], rows: ["1|'x'", "2|'y'"]),
    HintScenario(
      name: "csv: a bad byte, and the encoding is named",
      hints: [
        "if the file is not UTF-8, name its encoding: --encoding windows-1252 (western), windows-1250, windows-1251, shift_jis, gb18030 ..."
      ],
      bytes: ["f.csv": Array("id,a\n1,e\n2,h".utf8) + [0xFF] + Array("y\n".utf8)],
      first: load + ["--encoding", "utf-8"], firstExit: 65,
      steps: [.leaveOut(["utf-8", "--encoding"]), .add("--encoding windows-1252")], query: "SELECT id FROM t", rows: ["1", "2"]),
    HintScenario(
      name: "csv: bytes that are not the encoding that was named",
      hints: ["correct them, or name the file's true encoding with --encoding"],
      bytes: ["f.csv": Array("id,a\n1,".utf8) + [0x82, 0xA0, 0x0A, 0x32, 0x2C, 0xA4, 0xFF, 0x0A]],
      first: load + ["--encoding", "shift_jis"], firstExit: 65,
      steps: [.leaveOut(["shift_jis"]), .give(["windows-1252"])], query: "SELECT id FROM t", rows: ["1", "2"]),
    HintScenario(
      name: "csv: a quote inside a field",
      hints: [
        "--quotes lenient takes quotes inside a field as data; --escape C if quotes are escaped by C; --on-error reject sets the record aside"
      ],
      files: ["f.csv": "id,a,b\n1,\"x\",\"y\"\n2,\"a \"b\" c\",\"z\"\n3,\"x\",\"y\"\n"], first: load, firstExit: 65,
      steps: [.add("--quotes lenient")], rows: ["1|'x'|'y'", "2|'a \"b\" c'|'z'", "3|'x'|'y'"]),
    HintScenario(
      name: "csv: quotes that are escaped",
      hints: [
        "--quotes lenient takes quotes inside a field as data; --escape C if quotes are escaped by C; --on-error reject sets the record aside"
      ],
      files: ["f.csv": "id,a,b\n1,\"x\",\"y\"\n2,\"a !\"b!\" c\",\"z\"\n3,\"x\",\"y\"\n"], first: load, firstExit: 65,
      steps: [.give(["--escape", "!"])], rows: ["1|'x'|'y'", "2|'a \"b\" c'|'z'", "3|'x'|'y'"]),
    HintScenario(
      name: "csv: a quote that is never closed",
      hints: ["--quote none if quotes are data; else close the quote on this line"],
      files: ["f.csv": "id,a\n1,x\n2,\"y\n3,z\n"], first: load + ["--quote", "\""], firstExit: 65,
      steps: [.write("f.csv", "id,a\n1,x\n2,\"y\"\n3,z\n"), .again], rows: ["1|'x'", "2|'y'", "3|'z'"]),
    HintScenario(
      name: "csv: a quote that is data",
      hints: ["--quote none if quotes are data; else close the quote on this line"],
      files: ["f.csv": "id,a\n1,x\n2,\"y\n3,z\n"], first: load + ["--quote", "\""], firstExit: 65,
      steps: [.leaveOut(["--quote", "\""]), .add("--quote none")], rows: ["1|'x'", "2|'\"y'", "3|'z'"]),
    HintScenario(
      name: "csv: a name with a NUL byte is another",
      hints: ["--names A,B,C gives the fields of CSV other names; --columns A,B leaves the column out"],
      files: ["f.csv": "id,a\0b\n1,x\n"], first: load, firstExit: 64, steps: [.give(["--names", "id,a"])], rows: ["1|'x'"]),
    HintScenario(
      name: "csv: a name with a NUL byte is left out",
      hints: ["--names A,B,C gives the fields of CSV other names; --columns A,B leaves the column out"],
      files: ["f.csv": "id,a\0b\n1,x\n"], first: load, firstExit: 64, steps: [.give(["--columns", "id"])], rows: ["1"]),
    HintScenario(
      name: "csv: the quote is the delimiter", hints: ["give another …"], files: ["f.csv": "id'a\n1'x\n"],
      first: load + ["--delimiter", "'", "--quote", "'"], firstExit: 64,
      steps: [.run(load + ["--delimiter", "'", "--quote", "none"])], rows: ["1|'x'"]),
    HintScenario(
      name: "csv: the escape is the delimiter", hints: ["give another …"], files: ["f.csv": "id,a\n1,\"x!\"y\"\n"],
      first: load + ["--escape", ","], firstExit: 64, steps: [.run(load + ["--escape", "!"])], rows: ["1|'x\"y'"]),
    HintScenario(
      name: "csv: more fields than any table has",
      hints: ["cut out the fields that are wanted first, as `cut -d, -f1-100` does; --delimiter if these are no fields"],
      files: ["f.csv": wide(70_000)], first: load, firstExit: 65,
      steps: [.shell("cut -d, -f1-100 f.csv > g.csv && upsurge load d.db t g.csv")],
      query: "SELECT count(*), c100 FROM t", rows: ["1|100"]),
    HintScenario(
      name: "csv: a second header that does not end",
      hints: ["--memory … for a larger one; --quote none if a quote is never closed"],
      prepare: "(printf 'id,a\\nx,\"'; head -c 5000000 /dev/zero | tr '\\0' y; printf '\"\\n2,y\\n') > f.csv",
      first: load + ["--header-lines", "2", "--names", "id,a", "--quote", "\"", "--memory", "16MiB"], firstExit: 65,
      steps: [.leaveOut(["16MiB", "--memory"]), .add("--memory [0-9]+MiB")], rows: ["2|'y'"]),
  ]
}
