extension HintTable {
  private static let days = "id,day\n1,31/12/2024\n2,n/a\n3,02/01/2025\n"
  private static let amounts = "id,amount\n1,\"1.234,5\"\n2,\"2,5\"\n3,x\n"

  private static let null = "--null … if a text stands for no value"
  private static let date = "--date … says how the column is written; …; --on-error reject sets such records aside"
  private static let truth = "--bool … names the words; …; --on-error reject sets such records aside"
  private static let number = "…; --type … keeps all values as text; --on-error reject sets such records aside"
  private static let group = "--thousands … if groups of three digits are parted by it; --on-error reject sets such records aside"

  /// Values that do not fit the format of their column, and formats that cannot be.
  static let valueScenarios: [HintScenario] = [
    .load(
      "values: a date is written otherwise", [date], "id,day\n1,12/31/2024\n2,1/2/2025\n", ["--date", "day=%d/%m/%Y"], exit: 65,
      [.leaveOut(["day=%d/%m/%Y"]), .give(["day=%m/%d/%Y"])], rows: ["1|'2024-12-31'", "2|'2025-01-02'"]),
    .load(
      "values: a text stands for no date", [date, null], days, ["--date", "day=%d/%m/%Y"], exit: 65,
      [.give(["--null", "day=n/a"])], rows: ["1|'2024-12-31'", "2|NULL", "3|'2025-01-02'"]),
    .load(
      "values: a date that is none is set aside", [date], days, ["--date", "day=%d/%m/%Y"], exit: 65,
      [.add("--on-error reject")], exits: [2], rows: ["1|'2024-12-31'", "3|'2025-01-02'"]),
    .load(
      "values: blanks around a date", ["--trim blanks leaves out the blanks around values"], "id,day\n1, 31/12/2024 \n",
      ["--date", "day=%d/%m/%Y"], exit: 65, [.add("--trim blanks")], rows: ["1|'2024-12-31'"]),
    .load(
      "values: other words for yes and no", [truth], "id,ok\n1,aktiv\n2,inaktiv\n", ["--bool", "ok"], exit: 65,
      [.leaveOut(["--bool", "ok"]), .give(["--bool", "ok=aktiv/inaktiv"])], rows: ["1|1", "2|0"]),
    .load(
      "values: a word for neither", [truth, null], "id,ok\n1,Y\n2,?\n", ["--bool", "ok"], exit: 65,
      [.give(["--null", "ok=?"])], rows: ["1|1", "2|NULL"]),
    .load(
      "values: neither yes nor no is set aside", [truth], "id,ok\n1,Y\n2,?\n", ["--bool", "ok"], exit: 65,
      [.add("--on-error reject")], exits: [2], rows: ["1|1"]),
    .load(
      "values: groups of digits", [group], "id,amount\n1,\"1.234,5\"\n2,\"2,5\"\n", ["--decimal", "comma", "--type", "amount:REAL"], exit: 65,
      [.add("--thousands [^ ]+")], rows: ["1|1234.5", "2|2.5"]),
    .load(
      "values: groups of digits are set aside", [group], "id,amount\n1,\"1.234,5\"\n2,\"2,5\"\n",
      ["--decimal", "comma", "--type", "amount:REAL"], exit: 65, [.add("--on-error reject")], exits: [2], rows: ["2|2.5"]),
    .load(
      "values: no number, kept as text", [number], amounts, ["--decimal", "comma", "--thousands", ".", "--type", "amount:REAL"], exit: 65,
      [.leaveOut(["--type", "amount:REAL"]), .give(["--type", "amount:TEXT"])], rows: ["1|'1.234,5'", "2|'2,5'", "3|'x'"]),
    .load(
      "values: no number, and none is meant", [number, null], amounts, ["--decimal", "comma", "--thousands", ".", "--type", "amount:REAL"],
      exit: 65, [.give(["--null", "amount=x"])], rows: ["1|1234.5", "2|2.5", "3|NULL"]),
    .load(
      "values: no number, set aside", [number], amounts, ["--decimal", "comma", "--thousands", ".", "--type", "amount:REAL"], exit: 65,
      [.add("--on-error reject")], exits: [2], rows: ["1|1234.5", "2|2.5"]),
    .load(
      "values: a format that is none", ["give one such as '%d/%m/%Y' or '%Y-%m-%d %H:%M:%S'"], "id,day\n1,31/12/2024\n",
      ["--date", "day=%d/%m"], exit: 64, [.leaveOut(["day=%d/%m"]), .give(["day=%d/%m/%Y"])], rows: ["1|'2024-12-31'"]),
    .load(
      "values: a time zone in plain letters", ["… reads a time zone: …"], "id,t\n1,2026-01-05T09:30:00Z\n",
      ["--date", "t=%Y-%m-%dT%H:%M:%SZ"], exit: 64,
      [.leaveOut(["t=%Y-%m-%dT%H:%M:%SZ"]), .give(["t=%Y-%m-%dT%H:%M:%S%z"])], rows: ["1|'2026-01-05T09:30:00Z'"]),
    .load(
      "values: a mark that is none", ["give one character, or comma, point, space or apostrophe"], "id,n\n1,1'000\n",
      ["--thousands", "quote"], exit: 64, [.leaveOut(["quote"]), .give(["apostrophe"])], rows: ["1|1000"]),
    .load(
      "values: one mark for both", ["--decimal … if it is the other way round"], "id,n\n1,\"1.000,5\"\n", ["--thousands", "."], exit: 64,
      [.add("--decimal comma")], rows: ["1|1000.5"]),
    .load(
      "values: words that mean both", ["give different words, as in 'active=A,active/I,inactive'; the empty field is NULL"],
      "id,active\n1,a\n2,\n3,inactive\n", ["--bool", "active=A/a"], exit: 64,
      [.leaveOut(["active=A/a"]), .add("active=A,active/I,inactive")], rows: ["1|1", "2|NULL", "3|0"]),
    .load(
      "values: a column in two spellings", ["name it once: names of columns do not differ by their case"], "id,day\n1,31/12/2024\n",
      ["--date=day=%d/%m/%Y", "--date=DAY=%d/%m/%Y"], exit: 64, [.leaveOut(["--date=DAY=%d/%m/%Y"]), .again],
      rows: ["1|'2024-12-31'"]),
    .load(
      "values: a column that the file does not have", ["its columns are: …"], "id,day\n1,31/12/2024\n", ["--date", "date=%d/%m/%Y"],
      exit: 64, [.leaveOut(["date=%d/%m/%Y"]), .give(["day=%d/%m/%Y"])], rows: ["1|'2024-12-31'"]),
    .load(
      "values: an added column that the file has", ["--add COL=… may name another column; --rename … gives the field another name"],
      "id,src\n1,x\n", ["--add", "src=file"], exit: 64, [.leaveOut(["src=file"]), .give(["origin=file"])], rows: ["1|'x'|'f.csv'"]),
    .load(
      "values: a field of an added column is renamed", ["--add COL=… may name another column; --rename … gives the field another name"],
      "id,src\n1,x\n", ["--add", "src=file"], exit: 64, [.give(["--rename", "src=name"])], rows: ["1|'x'|'f.csv'"]),
    .load(
      "values: an added column that the table lacks", ["--alter adds the column; --add COL=… may name one that is there"], "id\n1\n",
      ["--add", "src=file"], setup: "CREATE TABLE t(id INTEGER, origin TEXT)", [.add("--alter")], query: "SELECT id, src FROM t",
      rows: ["1|'f.csv'"]),
    .load(
      "values: an added column that the table has", ["--alter adds the column; --add COL=… may name one that is there"], "id\n1\n",
      ["--add", "src=file"], setup: "CREATE TABLE t(id INTEGER, origin TEXT)", [.leaveOut(["src=file"]), .give(["origin=file"])],
      rows: ["1|'f.csv'"]),
    doubt("values: a comma before a fraction", ["--decimal", "comma"], ["1|1.234", "2|5.678"]),
    doubt("values: a comma between thousands", ["--thousands", "comma"], ["1|1234", "2|5678"]),
    HintScenario(
      name: "values: a comma in one column of several marks",
      hints: ["… whose comma may part thousands or stand before a fraction: --decimal …, or --thousands …, reads them"],
      files: ["f.csv": "id;a;n\n1;1'234.5;1,234\n2;2.5;5,678\n"], first: ["inspect", "f.csv"], firstExit: 0,
      steps: [.run(["load", "d.db", "t", "f.csv", "--thousands", "a=apostrophe", "--decimal", "n=comma"])],
      rows: ["1|1234.5|1.234", "2|2.5|5.678"]),
  ]

  /// Numbers that `inspect` can read in two ways.
  private static func doubt(_ name: String, _ options: [String], _ rows: [String]) -> HintScenario {
    HintScenario(
      name: name,
      hints: ["… whose comma may part thousands or stand before a fraction: --decimal comma, or --thousands comma, reads them"],
      files: ["f.csv": "id;n\n1;1,234\n2;5,678\n"], first: ["inspect", "f.csv"], firstExit: 0,
      steps: [.run(["load", "d.db", "t", "f.csv"] + options)], rows: rows)
  }
}
