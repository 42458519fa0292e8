/// What `upsurge load` does where sqlite-utils 4.2.1 does something else, or the same.
struct Counterpart {
  enum Verdict {
    /// Exit class and rows are the same.
    case same
    /// Something else on purpose, which serves people better: exit code, rows (of the case's own question or of
    /// `check`) and why.
    case better(exit: Int32 = 0, check: String? = nil, [String], String)
    /// Something else that is neither better nor worse.
    case alike(exit: Int32 = 0, check: String? = nil, [String], String)
    /// Nothing here does that; why.
    case none(String)
  }

  let id: String
  /// What follows `upsurge load DB TABLE -`, with spaces between the words.
  let options: String
  let verdict: Verdict

  init(_ id: String, _ options: String, _ verdict: Verdict) {
    self.id = id
    self.options = options
    self.verdict = verdict
  }

  /// One for each case, in their order. `insert` is `--mode insert`, `upsert` is `--mode upsert`, `--pk` is `--key`.
  static let all: [Counterpart] = [
    Counterpart("in01", "--format json --mode insert", .same),
    Counterpart("in02", "--format json --mode insert", .same),
    Counterpart("in03", "--format json --mode insert", .same),
    Counterpart("in04", "--format ndjson --mode insert", .same),
    Counterpart("in05", "--format json --mode insert --flatten", .same),
    Counterpart("in06", "--format ndjson --mode insert --flatten", .same),
    Counterpart("in07", "--format json --mode insert", .same),
    Counterpart("in08", "--format json --mode insert", .same),
    Counterpart("in09", "--format json --mode insert", .same),
    Counterpart(
      "in10", "--format json --mode insert",
      .better(["'9223372036854775808'|'text'"], "kept as text with all its digits instead of an error")),
    Counterpart("in11", "--format json --mode insert", .same),
    Counterpart("in12", "--format json --mode insert", .same),
    Counterpart(
      "in13", "--format json --mode insert",
      .better(
        exit: 65, ["0"],
        "nothing to make a table from is said with exit 65; into a table that exists an empty array is exit 0"
      )),
    Counterpart(
      "in14",
      "--format csv --mode insert --no-header --names line --quote none --delimiter \\x1F --infer none", .same
    ),
    Counterpart("in15", "", .none("a text as one row is no record stream")),
    Counterpart("cs01", "--format tsv --mode insert --infer none", .same),
    Counterpart("cs02", "--format csv --mode insert --infer none", .same),
    Counterpart("cs03", "--format csv --mode insert --delimiter ; --infer none", .same),
    Counterpart("cs04", "--format csv --mode insert --quote | --infer none", .same),
    Counterpart(
      "cs05", "--format csv --mode insert --infer none --ragged extra",
      .better(
        ["'1'|NULL|'cat'|'[\"dog\"]'"],
        "a surplus field is a reject (exit 65) or, with --ragged extra, kept; never dropped. An empty field is NULL"
      )),
    Counterpart("cs06", "--format csv --mode insert --infer none", .same),
    Counterpart("cs07", "--format csv --mode insert --infer none --ragged pad", .same),
    Counterpart("cs08", "", .none("--format is one option with one value")),
    Counterpart("cs09", "--format csv --mode insert", .same),
    Counterpart("cs10", "--format csv --mode insert --no-header", .same),
    Counterpart("cs11", "--format csv --mode insert --encoding latin-1", .same),
    Counterpart(
      "cs12", "--format csv --mode insert",
      .better(check: "SELECT name FROM t", ["'São Paulo'"], "the encoding is found (windows-1252) and said")),
    Counterpart("cs13", "--mode insert", .same),
    Counterpart(
      "cs14", "--format csv --mode insert",
      .better(
        check: "SELECT name FROM pragma_table_info('t')", ["'id'", "'name'", "'age'"],
        "the table is made, empty, so that what comes next finds it")),
    Counterpart("cs15", "--format csv --mode insert --stop-after 2", .same),
    Counterpart("cs16", "--format csv --mode insert", .same),
    Counterpart(
      "cs17", "--format csv --mode insert --infer none",
      .better(
        check: "SELECT a, a_2, b FROM t", ["'1'|'2'|'3'"],
        "both columns are kept, the second as a_2, and that is said; sqlite-utils loses one")),
    Counterpart("ty01", "--format csv --mode insert", .same),
    Counterpart(
      "ty02", "--format csv --mode insert",
      .better(["'01234'", "'94107'"], "a number would lose the leading zero")),
    Counterpart("ty03", "--format csv --mode insert --type zipcode:text", .same),
    Counterpart("ty04", "--format csv --mode insert", .same),
    Counterpart("ty05", "--format csv --mode insert", .same),
    Counterpart("ty06", "--format csv --mode insert", .same),
    Counterpart("ty07", "--format csv --mode insert", .same),
    Counterpart(
      "ty08", "--format csv --mode insert",
      .better(
        ["'-1'|'text'", "'+1'|'text'", "'1e5'|'text'", "' 2'|'text'"],
        "a number would change how +1, 1e5 and ' 2' are spelled; --type x:REAL asks for numbers")),
    Counterpart("ty09", "--format csv --mode insert --infer none", .same),
    Counterpart("ty10", "--format json --mode insert --strict", .same),
    Counterpart("pk01", "--format json --mode insert --key id", .same),
    Counterpart("pk02", "--format json --mode insert --key id,breed", .same),
    Counterpart("pk03", "--format json --mode insert --key id", .same),
    Counterpart("pk04", "--format json --mode ignore --key id", .same),
    Counterpart(
      "pk05", "--format json --mode upsert --key id",
      .better(["1|'New'|4"], "never REPLACE: a column that the record does not have keeps its value")),
    Counterpart(
      "pk06", "--format json --mode insert --key id",
      .better(exit: 65, ["0"], "nothing of the run remains, the new table neither")),
    Counterpart("pk07", "--format json --mode insert --key bad", .same),
    Counterpart("pk08", "--format csv --mode ignore --key id", .same),
    Counterpart("pk09", "--format csv --mode upsert --key id", .same),
    Counterpart("sh01", "--format ndjson --mode insert", .same),
    Counterpart("sh02", "--format ndjson --mode insert --alter", .same),
    Counterpart("sh03", "--format json --mode insert --alter", .same),
    Counterpart(
      "sh04", "--format json --mode insert --key id --not-null name --default score=5",
      .alike(
        check: "SELECT name, \"notnull\", dflt_value, pk FROM pragma_table_info('t')",
        ["'id'|0|NULL|1", "'name'|1|NULL|0", "'score'|0|'5'|0"],
        "the same table; the default is the number 5, not the text")),
    Counterpart("sh05", "--format json --mode insert", .same),
    Counterpart(
      "sh06", "",
      .none(
        "nothing here empties a table by the way; a snapshot with sweep: hard (mirror) removes what a delivery no longer has"
      )),
    Counterpart("sh07", "--format json --mode insert", .same),
    Counterpart("sh08", "--format csv --mode insert", .same),
    Counterpart("up01", "--format json --mode upsert --key id", .same),
    Counterpart("up02", "--format json --mode upsert --key id --alter", .same),
    Counterpart("up03", "--format json --mode upsert --key id", .same),
    Counterpart("up04", "--format json --mode upsert --key id", .same),
    Counterpart("up05", "--format json --mode upsert", .same),
    Counterpart("up06", "--format json --mode upsert", .same),
    Counterpart("up07", "--format json --mode upsert --key sp,id", .same),
    Counterpart(
      "up08", "--format json --mode upsert --key id",
      .alike(
        ["1|'Cleo'", "2|'x'"],
        "an INTEGER PRIMARY KEY that is NULL gets its number, as in SQLite; any other key with NULL is a reject"
      )),
    Counterpart(
      "up09", "--format json --mode upsert --key id",
      .alike(["1|'Cleo'", "2|'x'"], "as up08: the number is given")),
    Counterpart("up10", "--format json --mode upsert --key id", .same),
    Counterpart("up11", "--format json --mode upsert --key id", .same),
    Counterpart("up12", "--format csv --mode upsert --key id", .same),
    Counterpart("up13", "--format json --mode upsert --key id", .same),
    Counterpart("up14", "--format json --mode upsert --key id", .same),
    Counterpart(
      "up15", "--format json --mode upsert --key id",
      .better(["1|'Cleo'|9"], "the row is there, so the column is not needed")),
    Counterpart("up16", "--format json --mode upsert --key k", .same),
    Counterpart(
      "bk01", "",
      .none("SQL of one's own for each record: --set COL=SQL and --mode cover updates, not any statement")),
    Counterpart("bk02", "--format csv --mode update --key id", .same),
    Counterpart("cv01", "", .none("no code runs on records")),
    Counterpart("cv02", "", .none("no code runs on records")),
  ]
}
