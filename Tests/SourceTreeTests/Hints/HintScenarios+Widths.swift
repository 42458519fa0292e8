extension HintTable {
  private static let lines = "1  Ann\n2  Ben\n"
  private static let people = ["1|'Ann'", "2|'Ben'"]
  private static let crossed = "--widths NAME:N,NAME:N says where the fields stand; --on-error reject sets the record aside"
  private static let report = "id name  n\n-- ----- --\n 1 Ann    5\n 2 Benedik6\n 3 Cyd    7\n 4 Dan    8\n"

  /// Lines that are cut by widths.
  static let widthScenarios: [HintScenario] = [
    .load(
      "widths: a text crosses the columns of a ruler", [crossed], report, exit: 65, [.add("--on-error reject")], exits: [2],
      rows: ["1|'Ann'|5", "3|'Cyd'|7", "4|'Dan'|8"]),
    .load(
      "widths: the columns of a ruler are said", [crossed], report, exit: 65,
      [.give(["--widths", "id:3,name:7,n:*", "--skip-lines", "2", "--no-header"])],
      rows: ["1|'Ann'|5", "2|'Benedik'|6", "3|'Cyd'|7", "4|'Dan'|8"]),
    .load(
      "widths: with a delimiter", ["leave out …, or --widths"], lines, ["--widths", "id:3,name:5", "--delimiter", ","], exit: 64,
      [.leaveOut(["--delimiter", ","]), .again], rows: people),
    .load(
      "widths: with another number of names", ["name each width: --widths id:6,name:20,note:*"], lines,
      ["--widths", "3,5", "--names", "id"], exit: 64, [.leaveOut(["3,5", "--names", "id"]), .give(["id:3,name:5"])], rows: people),
    .load(
      "widths: too wide together", ["give the characters of each field: --widths id:6,name:20,note:*"], lines,
      ["--widths", "id:1048576,name:5"], exit: 64, [.leaveOut(["id:1048576,name:5"]), .give(["id:3,name:*"])], rows: people),
  ]
}
