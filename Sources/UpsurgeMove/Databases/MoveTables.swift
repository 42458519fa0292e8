import UpsurgePostgres
import UpsurgeSQLite

/// The tables of the engine's own that a move knows.
enum MoveTables {
  /// Where a move keeps how far it is, in the database that it moves into.
  static let state = "upsurge_move"
  /// Where the connections of a run stand, on a server.
  private static let connections = PostgresLanes.name

  /// Tables whose rows mean something only where they are.
  static func isOwn(_ name: String) -> Bool {
    OwnTable.isOwn(name) || SQLName.isSame(name, state) || SQLName.isSame(name, connections)
      || SQLName.folded(name).hasPrefix(SQLName.folded("upsurge_new_"))
  }

  /// What is said of an own table that holds something.
  static func leftOut(_ name: String) -> LeftOut {
    switch OwnTable(rawValue: name.lowercased()) {
    case .feeds, .takenFiles, .chunks, .rowState, .refusals, .unaccepted:
      LeftOut(
        "state of mirror jobs (\(name))",
        "it does not move yet: the first run of each job in the new database reads and compares the whole feed"
      )
    case .rejects, .rejectContexts, .replays, .quarantine:
      LeftOut("kept records (\(name))", "replay them before the move: upsurge replay")
    case .runs: LeftOut("runs (\(name))", "a load that has not ended resumes only in the old database")
    case .pendingWork, nil: LeftOut("own table (\(name))", "it is of use only in the old database")
    }
  }
}
