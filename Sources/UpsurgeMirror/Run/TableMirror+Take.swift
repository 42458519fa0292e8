import Upsurge
import UpsurgeInput
import UpsurgeRecords
import UpsurgeStorage

/// Which deliveries of a feed are loaded, and what is noted of them.
extension TableMirror {
  /// Whether a file is a delivery of its own, and never taken again: of a delta, whose files would set rows back.
  var takesEachOnce: Bool {
    let isFiles = !table.sources.contains { SourceName.isStandardInput($0) || SourceName.isFeed($0) }
    return table.kind == .delta && isFiles || table.sources.contains(where: FolderListing.isFolder)
  }

  /// Takes what stands there, unless it is what was taken last.
  func takeLast(_ turn: inout Turn, _ tick: (RunControl.Progress) -> Void) throws(UpsurgeError) {
    guard let record = turn.record else { return }
    let names = try SourceList.expand(table.sources)
    var files: [DeliveredFile]?
    var looking: BackgroundLook?
    defer {
      looking?.giveUp()
      looking?.wait()
    }
    if mayBeThere(record, names) {
      files = try look(at: names, known: record.files)
      if let files, try isThere(record, files) { return noteUnchanged(record, &turn.summary) }
    } else {
      looking = try BackgroundLook(names, control: control)
    }
    let end = try load(names, record, tick)
    if end.summary.error != nil || end.summary.signal != nil { looking?.giveUp() }
    files = looking?.files() ?? files
    turn.deliveries.append(Delivery(load: end, names: names, files: files))
    let load = end.summary
    guard group == nil, load.resumedCount > 0, load.isWhole, load.guardRefusal != nil else { return }
    // It went on behind a commit. All of it is read once more, to see which rows are gone; the ledger stays that of
    // the records.
    end.acknowledge()
    let again = try self.load(names, record, tick, resume: .never)
    again.takeOver(load)
    turn.deliveries = [Delivery(load: again, names: names, files: files)]
  }

  private func noteUnchanged(_ record: FeedRecord, _ summary: inout MirrorSummary.Table) {
    summary.unchangedSince = record.deliveredAt ?? record.checkedAt
    summary.hadRejects = record.exitCode == 2
  }

  /// Takes each file that was not taken before, in order, up to the first that fails: those behind it must not overtake
  /// it.
  func takeAll(
    _ turn: inout Turn, _ afterwards: inout Afterwards, _ tick: (RunControl.Progress) -> Void
  ) throws(UpsurgeError) {
    guard let record = turn.record else { return }
    var (taken, unseen): ([DeliveredFile], Set<String>) = ([], [])
    if let connection = try lookingConnection() {
      taken = try TakenFiles.all(of: table.name, on: connection)
      unseen = Set(try RunTable.open(connection, table: table.name).flatMap(\.job.sources))
    }
    var last = record.files.first
    var isUnchanged = true
    for path in try paths() {
      if control.cancellationSignal != nil {
        throw UpsurgeError(.interrupted, "interrupted in front of \(SourceName.shown(path))")
      }
      let file = try delivered(path, known: taken)
      // One whose ledger was not shown shows it now.
      guard !isTaken(file, taken, last: last) || unseen.contains(file.name) else {
        afterwards.files.append((path, file, table.folder.done))
        continue
      }
      isUnchanged = false
      if let group, let before = turn.deliveries.last {
        try group.closeDelivery(of: table.name)
        if !before.isWhole { return }
      }
      var record = turn.record
      // Those of a group are noted when all of it is stored.
      if let before = turn.deliveries.last { record?.recordCount = before.load.summary.ledger.read }
      let delivery = Delivery(
        load: try load([path], record, tick), names: [path], files: [file], isTakenOnce: true)
      if group == nil {
        try take(delivery, &turn, &afterwards)
      } else {
        turn.deliveries.append(delivery)
      }
      if !delivery.isWhole { return }
      if job.dryRun == nil {
        last = file
        taken.append(file)
      }
    }
    if isUnchanged { noteUnchanged(record, &turn.summary) }
  }

  /// Notes what has become of a load.
  func take(
    _ delivery: Delivery, _ turn: inout Turn, _ afterwards: inout Afterwards
  ) throws(UpsurgeError) {
    let load = delivery.load.summary
    if load.response?.isNotModified == true {
      afterwards.loads.append(delivery.load)
      if let record = turn.record { noteUnchanged(record, &turn.summary) }
      return
    }
    turn.summary.loads.append(load)
    let isNoted = !delivery.isTakenOnce || job.dryRun == nil
    guard delivery.isWhole, isNoted, var record = turn.record else {
      return afterwards.loads.append(delivery.load)
    }
    defer { turn.record = record }
    if delivery.isTakenOnce, let path = delivery.names.first, let file = delivery.files?.first {
      // Its mark stays until the file is noted, so that it is not loaded again.
      guard try delivered(path, known: []).hasContent(of: file) else {
        throw UpsurgeError(
          .badInput, "\(SourceName.shown(path)) was changed while it was loaded",
          hint: "write it under a name that ends with .tmp, and rename it")
      }
      try TakenFiles.add(file, of: table.name, on: connection())
      try note(load, [file], in: &record)
      afterwards.add(delivery.load)
      afterwards.files.append((path, file, table.folder.done))
      return
    }
    afterwards.loads.append(delivery.load)
    let (names, files) = (delivery.names, delivery.files ?? [])
    let isStill = zip(names, files).allSatisfy { $1.isStill(atPath: $0) }
    try note(load, isStill ? files : [], in: &record)
    record.validators = names.count == 1 ? load.response?.validators ?? HTTPValidators() : HTTPValidators()
  }

  /// Whether nothing that the last delivery has left is kept any more.
  func hasNothingLeft() -> Bool {
    guard let connection = try? lookingConnection(), let runs = try? RunTable.all(connection),
      let last = runs.last(where: { SQLName.isSame($0.job.table, table.name) })
    else { return false }
    return last.progress.ledger.rejected == 0 && (try? KeptTable.holds(table.name, connection)) == false
  }

  private func delivered(_ path: String, known: [DeliveredFile]) throws(UpsurgeError) -> DeliveredFile {
    let file = try DeliveredFile.look(at: path, known: known) { control.cancellationSignal != nil }
    if let file { return file }
    throw UpsurgeError(
      .unreadableInput, "\(SourceName.shown(path)) is no regular file, or changes while it is read",
      hint: "write it under a name that ends with .tmp, and rename it")
  }

  /// Whether a file was taken before. Changes that come again would set rows back; a snapshot that comes again behind
  /// another one is the truth again.
  private func isTaken(_ file: DeliveredFile, _ taken: [DeliveredFile], last: DeliveredFile?) -> Bool {
    if table.kind == .delta { return taken.contains { $0.hasContent(of: file) } }
    return last.map { $0.hasContent(of: file) } ?? false
      || taken.contains {
        $0.name == file.name && $0.stamp.modified == file.stamp.modified && $0.hasContent(of: file)
      }
  }

  /// The files of a delta or a drop folder, in order.
  private func paths() throws(UpsurgeError) -> [String] {
    var paths: [String] = []
    for source in table.sources {
      if FolderListing.isFolder(source) {
        paths += try FolderListing.files(in: source, order: table.folder.order)
      } else {
        paths += try SourceList.expand([source])
      }
    }
    return paths
  }
}
