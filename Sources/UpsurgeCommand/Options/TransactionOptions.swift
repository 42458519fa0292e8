import ArgumentParser
import Upsurge

/// The options that say how records become transactions, and how long and large those may get.
struct TransactionOptions: ParsableArguments {
  @Option(help: "full, normal, or off (new files only: nothing survives a crash).")
  var durability: Durability = .normal

  @Option(
    help: ArgumentHelp(
      """
      A transaction's rows (100000), bytes of records (64MiB) or time (500ms, 2s, 1min); auto is 100000 rows, and more \
      where keys that arrive in no order are sorted.
      """, valueName: "auto|rows|bytes|time"))
  var commitEvery: CommitInterval = .auto

  @Option(
    help:
      "How large the write-ahead log may get, at least 4MiB; past it only while another program keeps reading it."
  )
  var walLimit: ByteSize = .mebibytes(256)

  @Option(help: "Milliseconds to wait for a lock.")
  var busyTimeout: Int32 = 5_000

  @Flag(
    name: .customLong("input-order"),
    help: """
      Store records as they come. Otherwise they may be sorted by their key where keys arrive in no order, as much as \
      --memory holds at once; only the hidden rowids of new rows can tell.
      """)
  var keepsInputOrder = false

  func apply(to options: inout LoadOptions) {
    options.durability = durability
    options.commitEvery = commitEvery
    options.walLimit = walLimit
    options.busyTimeout = busyTimeout
    options.keepsInputOrder = keepsInputOrder
  }
}
