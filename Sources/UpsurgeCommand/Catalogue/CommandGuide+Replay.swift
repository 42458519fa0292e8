/// What `upsurge replay` says of itself.
extension CommandGuide {
  static let replay = CommandGuide(
    "replay", abstract: "Try quarantined and rejected records again.",
    forms: ["[OPTIONS] DATABASE [FILE]"],
    arguments: [
      Argument("DATABASE", "The SQLite database, or postgres://USER@HOST/DATABASE."),
      Argument("FILE", "A file of rejects. Without it, what the database keeps."),
    ],
    examples: ["upsurge replay shop.db", "upsurge replay shop.db bad.ndjson"],
    sections: [quarantine, laterDeliveries, rejected, trust, moreReplayExamples],
    endings: [
      Ending("0", "every record was stored"), Ending("2", "some still have no place or were rejected"),
      Ending("3", "stopped part way, what was stored is committed"), Ending("4", "refused by a guard"),
      .usage, Ending("65", "FILE is not a file of rejected records"), Ending("66", "no such database or file"),
      Ending("73", "cannot write beside FILE"), Ending("75", "database or FILE busy"), .signals, .others,
    ])

  private static let quarantine = Section(
    "quarantine", "Quarantined records", about: "records for which the schema had no place",
    text: """
      `upsurge load --contract quarantine` keeps a record in the table upsurge_quarantine while a column, or the table \
      itself, is missing. Replay stores those that have a place by now. It takes them in the order of arrival, and uses \
      the key, mode and merge rules of the load that kept them.

      A record leaves the quarantine in the transaction that stores it. So it is stored exactly once, whatever happens. \
      What has no place yet stays, and so does what the table rejects. To give a record up, DELETE it from \
      upsurge_quarantine.
      """)

  private static let laterDeliveries = Section(
    "later-deliveries", "Records that came later", about: "which of two records about a row wins",
    text: """
      A later delivery of the same key replaces a kept record as a whole. With --merge newer:COL it does so only if it \
      was not older. With rules that read the row (--set COL=sum, min, max or SQL) every record counts: all are kept, \
      and replay stores them one after the other.

      Replay does not see what other programs wrote to a row since. It stores the kept record over it, unless \
      --merge newer:COL decides. That also holds where a mirror keeps local edits.
      """)

  private static let rejected = Section(
    "rejects", "Rejected records", about: "how rejected records are corrected and tried again",
    text: """
      After the quarantine come the records of the table upsurge_rejects, where `upsurge load --rejects table` keeps \
      them. With FILE, only the records of a file that `upsurge load --rejects FILE` has written are tried. Their bytes \
      are read again as the load read them, and stored by its key and rules.

      First fix what was wrong: the table, the rows that are referred to, or `raw` in the file or table. If you change \
      `raw`, remove `raw_base64`, which is read where it stands. Delete a line or row to give it up.

      A record leaves the table in the transaction that stores it. When the replay has ended, the file holds what was \
      rejected again. Until then, what is left is written to FILE.replay.

      A record that was stored is never stored again. One that a stopped load will read again is left to that load. A \
      record is stored as if it came now: with a key it replaces what later deliveries brought, unless --merge \
      newer:COL decides.

      If a replay is killed, rerun the same command. The final ledger is the one an undisturbed replay would have \
      printed.
      """)

  private static let trust = Section(
    "trust", "Databases and files of others", about: "what a foreign database or file may do",
    text: """
      A foreign database or file can do nothing by itself. It names no file to be read: only --blob-folder does. SQL in \
      its rules runs only if it computes with the record and its row, and not at all on a server. --trust-rules runs \
      all of it. Records that are not tried stay, with the reason.
      """)

  private static let moreReplayExamples = Section(
    "examples", "More examples", about: "correct, then replay",
    text: """
        upsurge load shop.db orders feed.ndjson --key id --contract quarantine
        sqlite3 shop.db 'SELECT "table", columns, count(*) FROM upsurge_quarantine GROUP BY 1, 2'
        sqlite3 shop.db 'ALTER TABLE orders ADD COLUMN coupon TEXT'
        upsurge replay shop.db

        upsurge load shop.db orders feed.csv --key id --on-error reject --rejects bad.ndjson
        sqlite3 shop.db "INSERT INTO customers VALUES (7, 'Ann')"
        upsurge replay shop.db bad.ndjson

        upsurge load shop.db orders feed.csv --key id --on-error reject --rejects table
        sqlite3 shop.db 'SELECT code, count(*), min(line) FROM upsurge_rejects GROUP BY 1'
        upsurge replay shop.db
      """)
}
