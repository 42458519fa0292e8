import ArgumentParser
import Upsurge

/// The options that say how records become transactions, and how long and large those may get.
struct TransactionOptions: ParsableArguments {
  @Option(.durability) var durability = LoadOptions.Transaction().durability

  @Option(.commitEvery) var commitEvery = LoadOptions.Transaction().commitEvery

  @Option(.walLimit) var walLimit = LoadOptions.Transaction().walLimit

  @Option(.connections) var connections = LoadOptions.Transaction().connections

  @Option(.busyTimeout) var busyTimeout = LockTime(milliseconds: LoadOptions.Transaction().busyTimeout)

  @Flag(.inputOrder) var keepsInputOrder = false

  func apply(to transaction: inout LoadOptions.Transaction) {
    transaction.durability = durability
    transaction.commitEvery = commitEvery
    transaction.walLimit = walLimit
    transaction.connections = connections
    transaction.busyTimeout = busyTimeout.milliseconds
    transaction.keepsInputOrder = keepsInputOrder
  }
}
