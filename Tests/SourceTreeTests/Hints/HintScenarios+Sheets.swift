extension HintTable {
  /// Writes a workbook with two sheets of two cells each in two rows: `Data` and `More`.
  private static let workbook = """
    python3 - <<'END'
    import zipfile
    z = zipfile.ZipFile('f.xlsx', 'w')
    office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
    def put(name, text): z.writestr(name, text)
    put('[Content_Types].xml', '<Types/>')
    put('_rels/.rels', f'<R><Relationship Id="a" Type="{office}/officeDocument" Target="xl/workbook.xml"/></R>')
    put('xl/workbook.xml', '<workbook><sheets><sheet name="Data" id="r1"/><sheet name="More" id="r2"/></sheets></workbook>')
    put('xl/_rels/workbook.xml.rels', '<R>' + ''.join(
        f'<Relationship Id="r{n}" Type="{office}/worksheet" Target="s{n}.xml"/>' for n in (1, 2)) +
        f'<Relationship Id="t" Type="{office}/sharedStrings" Target="t.xml"/></R>')
    for n in (1, 2):
        put(f'xl/s{n}.xml', '<worksheet><sheetData><row><c t="str"><v>id</v></c><c t="str"><v>a</v></c></row>'
            f'<row><c><v>{n}</v></c><c t="str"><v>x</v></c></row></sheetData></worksheet>')
    z.close()
    END
    """

  /// A text of 1,500,000 letters that no cell names.
  private static let largeText = """
    put('xl/t.xml', '<sst><si><t>' + 'x' * 1500000 + '</t></si></sst>')

    """

  private static func sheet(
    _ name: String, _ hint: String, _ words: [String], exit: Int32, _ steps: [HintScenario.Step], rows: [String]
  ) -> HintScenario {
    HintScenario(
      name: "sheet: \(name)", hints: [hint], prepare: workbook, first: ["load", "d.db", "t"] + words, firstExit: exit, steps: steps,
      rows: rows)
  }

  /// Sheets of workbooks.
  static let sheetScenarios: [HintScenario] = [
    sheet(
      "one of several", "…: of … sheets the first is read, …; --sheet … reads another", ["f.xlsx", "--dry-run"], exit: 0,
      [.leaveOut(["--dry-run"]), .add("--sheet [A-Za-z]+")], rows: ["2|'x'"]),
    sheet(
      "no such sheet", "its sheets are: …", ["f.xlsx", "--sheet", "Other"], exit: 66,
      [.leaveOut(["Other"]), .give(["Data"])], rows: ["1|'x'"]),
    sheet(
      "with a delimiter", "leave out …", ["f.xlsx", "--sheet", "Data", "--delimiter", ","], exit: 64,
      [.leaveOut(["--delimiter", ","]), .again], rows: ["1|'x'"]),
    HintScenario(
      name: "sheet: a shared text beyond a sixteenth of the memory", hints: ["--memory … has room for twice as much"],
      prepare: workbook.replacing("z.close()", with: largeText + "z.close()"),
      first: ["load", "d.db", "t", "f.xlsx", "--memory", "16MiB"], firstExit: 65,
      steps: [.leaveOut(["--memory", "16MiB"]), .add("--memory [0-9]+MiB")], rows: ["1|'x'"]),
    HintScenario(
      name: "sheet: of a file that is none", hints: ["leave out --sheet"], files: ["f.csv": "id,a\n1,x\n"],
      first: ["load", "d.db", "t", "f.csv", "--sheet", "Data"], firstExit: 64, steps: [.leaveOut(["--sheet", "Data"]), .again],
      rows: ["1|'x'"]),
    sheet(
      "a path of another sheet", "leave out --sheet", ["f.xlsx/More", "--sheet", "Data"], exit: 64,
      [.leaveOut(["--sheet", "Data"]), .again], rows: ["2|'x'"]),
  ]
}
