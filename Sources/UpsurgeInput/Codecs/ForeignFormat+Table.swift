/// Tables in binary formats. There is no C library for most of them in Debian, so a program of Python makes text of them.
extension ForeignFormat {
  /// A program of Python that is given the file's path and writes text.
  private static func python(_ what: String, _ program: String, package: String) -> ForeignFormat {
    ForeignFormat(
      what: what, command: "python3 -c \"\(program)\"", advice: "pip install \(package) brings what it needs",
      needsFile: true)
  }

  static func table(_ prefix: [UInt8]) -> ForeignFormat? {
    if has(prefix, "SQLite format 3\0") {
      return ForeignFormat(
        what: "a SQLite database",
        advice: "export the table: sqlite3 -csv -header FILE 'SELECT * FROM t' | upsurge load DB TABLE -")
    }
    // A Thrift field header follows; the four letters alone could begin a line of text.
    if has(prefix, "PAR1\u{15}") {
      return python(
        "Parquet", "import duckdb,sys; duckdb.read_parquet(sys.argv[1]).write_csv('/dev/stdout')",
        package: "duckdb")
    }
    if has(prefix, [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]) {
      return ForeignFormat(
        what: "an old Excel workbook (.xls), or an encrypted one",
        advice: "save the sheet as .xlsx without a password, or as CSV, and load that")
    }
    if has(prefix, "Obj\u{1}") {
      return python(
        "Avro",
        "import sys,json,fastavro; [print(json.dumps(r,default=str)) for r in fastavro.reader(open(sys.argv[1],'rb'))]",
        package: "fastavro")
    }
    return arrow(prefix)
  }

  /// What pyarrow reads.
  private static func arrow(_ prefix: [UInt8]) -> ForeignFormat? {
    let write = "pyarrow.csv as c; c.write_csv"
    if has(prefix, "ARROW1\0\0") || has(prefix, "FEA1\0\0\0\0") {
      return python(
        "an Arrow file (Feather)",
        "import sys,pyarrow.feather as f,\(write)(f.read_table(sys.argv[1]),sys.stdout.buffer)",
        package: "pyarrow")
    }
    // A message of at most 16 MiB, which is the schema.
    if has(prefix, [0xFF, 0xFF, 0xFF, 0xFF]), prefix.count > 8, prefix[7] == 0 {
      return python(
        "a stream of Arrow",
        "import sys,pyarrow as p,\(write)(p.ipc.open_stream(sys.argv[1]).read_all(),sys.stdout.buffer)",
        package: "pyarrow")
    }
    // Text begins with three letters, too, but has no bytes below the tab.
    if has(prefix, "ORC"), prefix.prefix(32).contains(where: { $0 < 0x09 }) {
      return python(
        "ORC", "import sys,pyarrow.orc as o,\(write)(o.read_table(sys.argv[1]),sys.stdout.buffer)",
        package: "pyarrow")
    }
    return nil
  }
}
