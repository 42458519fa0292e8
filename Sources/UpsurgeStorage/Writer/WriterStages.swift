/// The stages of a writer, and what all of them leave open.
struct WriterStages {
  var quarantine: QuarantineStage?
  var chunks: ChunkStage?
  var rowState: RowStateStage?
  var sweep: SweepStage?
  var observer: ObserverStage?
  var references: ReferenceStage?
  var gathering: GatheringStage?
  var equalRows: EqualRowsStage?

  /// All that there are, in the order in which they are told what happens.
  private(set) var list: [any WriterStage] = []
  /// Stages that are told of each record that goes alone.
  private(set) var watching: [any WriterStage] = []
  /// What all of them leave open as long as the plan is the same.
  private(set) var permits = StorePermits.all
  /// What all of them leave open at the moment.
  private(set) var permitsNow = StorePermits.all

  /// Looks again at who is there, and what they permit.
  mutating func refresh() {
    let all: [(any WriterStage)?] = [
      quarantine, chunks, rowState, sweep, observer, references, gathering, equalRows,
    ]
    list = all.compactMap { $0 }
    watching = list.filter(\.watchesRecords)
    permits = list.reduce(.all) { $0.intersection($1.permits) }
    permitsNow = list.reduce(.all) { $0.intersection($1.permitsNow) }
  }
}

extension TableWriter {
  /// A stage permits more or less than before, or watches records, or no longer does.
  func permitsDidChange() { stages.refresh() }
}
