import UpsurgeRecords

/// What `upsurge move` says of itself.
extension CommandGuide {
  static let move = CommandGuide(
    "move", abstract: "Move a database from SQLite to PostgreSQL, or back, and prove that both are equal.",
    forms: ["[OPTIONS] SOURCE TARGET"],
    arguments: [
      Argument("SOURCE", "An SQLite database, or postgres://USER@HOST/DATABASE. It is only read."),
      Argument("TARGET", "The other one: postgres://USER@HOST/DATABASE, or a file. A file may be new."),
    ],
    examples: [
      "upsurge move shop.db postgres://anna@db.example.org/shop --dry-run",
      "upsurge move shop.db postgres://anna@db.example.org/shop",
      "upsurge move postgres://anna@db.example.org/shop back.db",
    ],
    sections: [
      Section(
        "about", "What moves", about: "what moves, what stays, and how a move resumes",
        text: """
          Tables move with columns, types, keys, defaults, checks, indexes and foreign keys, also where these form circles. \
          New rows are numbered after the last one. Views, triggers and virtual tables stay, and are listed with the \
          reason. So are expressions that mean something else in the other database.

          All rows are looked at before anything is written. A text in an INTEGER column has no place in PostgreSQL: it \
          is reported with its row, and with the --type that takes it.

          The source is read in one state. Let no other program write it until the move has ended. If a move is killed, \
          rerun the same command: it goes on with the table that it was in.

          At the end, a digest of each table is computed on both sides. Exit code 0 means that all are equal. How far a \
          move is stands in the table upsurge_move of the target, which can be dropped afterwards.

            upsurge move shop.db postgres://anna@db.example.org/shop --explain
            upsurge move shop.db postgres://anna@db.example.org/shop --type orders.note:text --except log
          """)
    ],
    endings: [
      Ending("0", "moved and equal on both sides, or the plan was printed"),
      Ending("3", "ended early: rerun the command to go on"),
      Ending(
        "4",
        "a table of the target is not of this move, the move is at work already, or both sides are not equal"),
      .usage,
      Ending("65", "values of the source have no place in the target: nothing was written"), .unreadable,
      Ending("73", "cannot create output"), .busy, .signals, .others,
    ])
}
