import ArgumentParser
import Upsurge

/// The options that say how records become transactions, and how long and large those may get.
struct TransactionOptions: ParsableArguments {
  @Option(.durability) var durability: Durability = .normal

  @Option(.commitEvery) var commitEvery: CommitInterval = .auto

  @Option(.walLimit) var walLimit: ByteSize = .mebibytes(256)

  @Option(.busyTimeout) var busyTimeout: Int32 = 5_000

  @Flag(.inputOrder) var keepsInputOrder = false

  func apply(to options: inout LoadOptions) {
    options.durability = durability
    options.commitEvery = commitEvery
    options.walLimit = walLimit
    options.busyTimeout = busyTimeout
    options.keepsInputOrder = keepsInputOrder
  }
}
