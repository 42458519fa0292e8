/// The stages of a run, as `RunSummary.Metrics.stages` calls them.
package enum RunStage {
  // The reading thread.
  /// Reading the file as it lies there, or waiting for a pipe.
  package static let read = "read"
  /// Decompressing, and making UTF-8 of other encodings.
  package static let decompress = "decompress"
  package static let parse = "parse"
  package static let waitForWriter = "wait_for_writer"
  // The writing thread.
  /// Before the first record: looking at the input, opening the database, finding or making the table.
  package static let prepare = "prepare"
  package static let waitForReader = "wait_for_reader"
  /// Packing rows into pages without SQLite, and making that the database.
  package static let pack = "pack"
  package static let handOver = "hand_over"
  /// Binding and stepping statements.
  package static let store = "store"
  /// Sorting records whose keys come in no order.
  package static let sort = "sort"
  package static let commit = "commit"
  package static let checkpoint = "checkpoint"
  /// Time left to other programs.
  package static let giveWay = "give_way"
  /// Building indexes after the rows.
  package static let index = "index"
  /// Rebuilding FTS5 tables after the rows.
  package static let fullText = "fts"

  /// The stages of the reading thread, in order; all others are the writing thread's.
  package static let reading = [read, decompress, parse, waitForWriter]

  /// What a stage does, for people.
  package static func words(_ stage: String) -> String {
    switch stage {
    case waitForWriter: "wait for the writer"
    case waitForReader: "wait for records"
    case giveWay: "give way to others"
    case index: "build indexes"
    case fullText: "build FTS5"
    case pack: "pack pages"
    case handOver: "hand over"
    default: stage
    }
  }
}
