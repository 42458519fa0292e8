import Upsurge

extension OptionCatalogue {
  /// Which row a record is about, and how that row changes.
  static let key: [OptionSpecification] = [
    OptionSpecification(
      .key, of: .key, .names,
      help: """
        Columns that say which row a record is about: A,B. They must have a PRIMARY KEY or UNIQUE index, in any order. \
        For an index on an expression give the expression, as in 'lower(email)'. Default: the table's primary key.
        """),
    OptionSpecification(
      .keyWhere, of: .key, named: "SQL",
      help: "The WHERE of the partial unique index that is meant: 'active = 1'."),
    OptionSpecification(
      .keyIndex, of: .key, named: "INDEX",
      help: "The name of the UNIQUE index that is meant, instead of --key."),
    OptionSpecification(
      .anyKey, of: .key, .flag,
      help: "Match by every key of the table whose columns the input has, the primary key first."),
    OptionSpecification(
      .createKey, of: .key, .flag,
      help: "Make the UNIQUE index that --key needs if it is missing."),
    OptionSpecification(
      .nullKeys, of: .key, .value(NullKeyPolicy.self), named: "POLICY",
      help: """
        Records with NULL in the key: reject (default), or insert (again at every run). In mode insert that needs \
        --key. For an INTEGER PRIMARY KEY that is NULL, SQLite makes a number, and every run inserts the record anew. \
        reject given here rejects it, and so does a snapshot of a mirror.
        """),
    OptionSpecification(
      .mode, of: .key, .value(WriteMode.self), named: "MODE",
      help: """
        upsert (default with a key), insert (default without), ignore (a row with the key stays as it is), update, \
        delete.
        """),
    OptionSpecification(
      .merge, of: .key, .list(String.self), named: "RULE",
      help: """
        How a row that exists changes: replace (default), coalesce (new unless NULL), keep (existing unless NULL). \
        newer:COL lets it change only if COL is not older, newer-strict:COL only if it is newer. One of each may be \
        given: --merge coalesce --merge newer:updated_at.
        """),
    OptionSpecification(
      .set, of: .key, .mapping, named: "COL=RULE",
      help: """
        Another rule for one column: replace, coalesce, keep, min, max, sum, along, or SQL. along: the new value, but only where \
        the row changes for another reason. The SQL may use excluded.COL and \
        the row's columns, as in 'hits=hits + excluded.hits'.
        """),
    OptionSpecification(
      .updateIf, of: .key, named: "SQL",
      help: "Change rows only if this SQL over excluded.COL and the row's columns is true."),
    OptionSpecification(
      .deleteWhen, of: .key, .condition,
      help: "Records whose column COL has this value delete their row."),
  ]

  /// What may happen to the table, and to its indexes, triggers and foreign keys.
  static let table: [OptionSpecification] = [
    OptionSpecification(
      .create, of: .table, .value(CreatePolicy.self), named: "POLICY",
      help: "auto makes a table that is not there. never refuses."),
    OptionSpecification(.strict, of: .table, .flag, help: "Make the new table STRICT."),
    OptionSpecification(
      .notNull, of: .table, .list(String.self), named: "COL",
      help: "The column is NOT NULL in a new table."),
    OptionSpecification(
      .default, of: .table, .mapping, named: "COL=VALUE",
      help: "What records that lack the column get, in a new table."),
    OptionSpecification(
      .alter, of: .table, .flag,
      help: "Add columns that the table lacks: --contract evolve."),
    OptionSpecification(
      .contract, of: .table, .value(SchemaContract.self), named: "POLICY",
      help: """
        Columns that the table lacks: freeze (default) stops. evolve adds them. quarantine keeps the record until \
        `upsurge replay` finds a place for it.
        """),
    OptionSpecification(
      .index, of: .table, .indexes,
      help: "An index that the table is to have: A,B. Made if it is missing."),
    OptionSpecification(
      .indexes, of: .table, .value(Upkeep.self), named: "METHOD",
      help: "Secondary indexes: keep, defer (build at the end) or auto."),
    OptionSpecification(
      .fts, of: .table, .value(Upkeep.self), named: "METHOD",
      help: "FTS5 tables of the table's content: keep, defer (rebuild) or auto."),
    OptionSpecification(
      .triggers, of: .table, .value(TriggerPolicy.self), named: "POLICY",
      help: "run, or guarded: upsurge_is_synchronizing() is 1, for WHEN clauses."),
    OptionSpecification(
      .foreignKeys, of: .table, .value(ForeignKeyPolicy.self), named: "POLICY",
      help: "auto (as the schema says), on (at once) or deferred (at the commit)."),
    OptionSpecification(
      .blob, of: .table, .value(BlobEncoding.self), named: "ENCODING",
      help: "JSON text for BLOB columns: base64, hex, or file (a path)."),
    OptionSpecification(
      .blobFolder, of: .table, named: "DIR",
      help: "The folder that files of --blob file must be in. Without it, that of the input file."),
    OptionSpecification(
      .initScript, of: .table, named: "FILE",
      help: "A file of SQL that runs first on the connection: TEMP triggers, TEMP views, settings."),
    OptionSpecification(
      .stateSchema, of: .table, named: "SCHEMA",
      help: """
        The schema of the tables in which PostgreSQL keeps runs and feeds: upsurge_runs, upsurge_feeds and others. It \
        must be there. Default: that of the table.
        """),
  ]
}
