import Upsurge
import UpsurgeInput
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeState

/// Which deliveries of a feed are loaded, and what is noted of them.
extension TableMirror {
  /// Whether a file is a delivery of its own, and never taken again: of a delta, whose files would set rows back.
  var takesEachOnce: Bool {
    let isFiles = table.sources.allSatisfy { $0.kind == .file }
    return table.kind == .delta && isFiles || table.sources.contains(where: \.isFolder)
  }

  /// Takes what stands there, unless it is what was taken last.
  func takeLast(_ turn: inout Turn, _ tick: (RunControl.Progress) -> Void) throws(UpsurgeError) {
    guard let record = turn.record else { return }
    let cancellation = ReadCancellation { [control] in control.cancellationSignal != nil }
    let sources = try SourceList.expand(table.maskedSources, cancellation: cancellation)
    var files: [DeliveredFile]?
    var looking: BackgroundLook?
    defer {
      looking?.giveUp()
      looking?.wait()
    }
    if mayBeThere(record, sources) {
      files = try look(at: sources, known: record.files)
      if let files, try isThere(record, files) { return noteUnchanged(record, &turn.summary) }
    } else {
      looking = try BackgroundLook(sources, control: control)
    }
    let end = try load(sources, record, tick)
    if end.summary.error != nil || end.summary.signal != nil { looking?.giveUp() }
    files = looking?.files() ?? files
    turn.deliveries.append(Delivery(load: end, sources: sources, files: files))
    let load = end.summary
    guard group == nil, load.progress.resumedCount > 0, load.isWhole, load.guardRefusal != nil else { return }
    // It went on after a commit. All of it is read once more, to see which rows are gone; the ledger stays that of
    // the records.
    if var record = turn.record {
      try noteDisturbance(by: shownSources, &record)
      turn.record = record
    }
    end.acknowledge()
    let again = try self.load(sources, record, tick, resume: .never)
    again.takeOver(load)
    turn.deliveries = [Delivery(load: again, sources: sources, files: files)]
  }

  private func noteUnchanged(_ record: FeedRecord, _ summary: inout MirrorSummary.Table) {
    summary.unchangedSince = record.deliveredAt ?? record.checkedAt
    summary.hadRejects = record.hasRejects
  }

  /// Takes each file that was not taken before, in order, up to the first that fails: later ones must not overtake it.
  func takeAll(
    _ turn: inout Turn, _ afterwards: inout Afterwards, _ tick: (RunControl.Progress) -> Void
  ) throws(UpsurgeError) {
    guard let record = turn.record else { return }
    var (taken, unseen): (KnownFiles, Set<String>) = (KnownFiles(), [])
    if let state = try state() {
      taken = KnownFiles(try state.takenFiles(of: table.name))
      unseen = Set(try state.openRuns(of: table.name).flatMap(\.job.sources))
    }
    if job.dryRun == nil {
      for folder in folders { table.folder.done.putBack(in: folder, taken: taken, note: note) }
    }
    // Those that a try before this one has stored are not committed yet.
    let stored = turn.deliveries.filter(\.isTakenOnce)
    for file in stored.compactMap(\.files?.first) where job.dryRun == nil { taken.insert(file) }
    var last = (job.dryRun == nil ? stored.last?.files?.first : nil) ?? record.files.first
    var isUnchanged = stored.isEmpty
    // The last file that was taken, where it is still there.
    var again: FoundFile?
    // Files that are stored with those that follow.
    var waiting = FileGroup()
    waiting.fileLimit = try groupedFileLimit()
    for path in try paths() where !stored.contains(where: { $0.sources.map(\.filePath) == [path] }) {
      if control.cancellationSignal != nil { throw interruption(before: path) }
      let file = try delivered(path, known: taken)
      // One whose ledger was not shown shows it now.
      guard !isTaken(file, taken, last: last) || unseen.contains(file.name) else {
        // It may be one of those that wait, which are not stored yet.
        if try !take(&waiting, &turn, &afterwards, tick) { return }
        if last?.hasContent(of: file) == true { again = (path, file) }
        if job.dryRun == nil { afterwards.add(path, file, table.folder.done) }
        continue
      }
      isUnchanged = false
      if waiting.isFull, try !take(&waiting, &turn, &afterwards, tick) { return }
      if waiting.mayTake(file), !unseen.contains(file.name) {
        warnIfLate(path, file, last: last)
        waiting.add(path, file)
        last = file
        taken.insert(file)
        continue
      }
      if try !take(&waiting, &turn, &afterwards, tick) { return }
      warnIfLate(path, file, last: last)
      guard try takeNext(path, file, &turn, &afterwards, tick) else { return }
      if job.dryRun == nil {
        last = file
        taken.insert(file)
      }
      // A new table is made for its first file.
      if waiting.fileLimit == nil { waiting.fileLimit = try groupedFileLimit() }
    }
    if try !take(&waiting, &turn, &afterwards, tick) { return }
    if isUnchanged { try endUnchanged(record, last: again, &turn, &afterwards, tick) }
  }

  typealias FoundFile = (path: String, file: DeliveredFile)

  /// Brings back what no longer says what the files have said, or notes that nothing has changed.
  /// - Parameter again: the last file that was taken, where it is still there.
  private func endUnchanged(
    _ record: FeedRecord, last again: FoundFile?, _ turn: inout Turn, _ afterwards: inout Afterwards,
    _ tick: (RunControl.Progress) -> Void
  ) throws(UpsurgeError) {
    let isDisturbed = record.disturbedBy != nil
    let isToBeRepaired = try needsRepair()
    if isDisturbed || isToBeRepaired {
      // Older changes would set rows back.
      if let again, table.kind == .snapshot {
        afterwards.files.removeAll { $0.0 == again.path }
        _ = try takeNext(again.path, again.file, &turn, &afterwards, tick)
        return
      }
      if isDisturbed {
        turn.leftover = leftover(record)
        return
      }
      note(
        RunNote(
          .warning,
          "rows of table \(table.name.escapedForTerminal) were edited or deleted here, and stay so until the next file comes: "
            + "the last one is no longer in the folder"))
    }
    noteUnchanged(record, &turn.summary)
  }

  func interruption(before path: String) -> UpsurgeError {
    UpsurgeError(.interrupted, "interrupted before \(SourceName.shown(path))")
  }

  /// Says of a snapshot that comes after a newer one, by their names, that it sets the table back.
  private func warnIfLate(_ path: String, _ file: DeliveredFile, last: DeliveredFile?) {
    guard table.kind == .snapshot, table.folder.order == .name, let last else { return }
    guard file.folder == last.folder, file.name.utf8.lexicographicallyPrecedes(last.name.utf8) else { return }
    let shown = SourceName.shown(last.name)
    note(
      RunNote(
        .warning,
        "\(SourceName.shown(path)) comes late: \(shown), whose name comes after its own, was taken before; the table "
          + "is set back to what the late one says. To have \(shown) again, put it into the folder with a new time (touch), "
          + "or deliver a newer file; if names do not give the order, folder: { order: time } goes by the time of change"
      ))
  }

  /// Why a table is not in step with a folder all of whose files were taken: it holds something of one that is gone.
  private func leftover(_ record: FeedRecord) -> UpsurgeError {
    let start =
      "table \(table.name.escapedForTerminal) holds records of \(record.disturbedBy ?? ""), which was refused or not whole, "
      + "and is no longer in the folder"
    guard table.kind == .snapshot, let last = record.files.first.map({ SourceName.shown($0.name) }) else {
      return UpsurgeError(
        .guardRefused, start, hint: "put that file back, corrected, or deliver the next one")
    }
    return UpsurgeError(
      .guardRefused, "\(start), nor is \(last), which would be taken again",
      hint: "put \(last) back into the folder, or deliver a newer file")
  }

  /// The table's sources, as they may be shown and stored.
  private var shownSources: String {
    table.sources.map(\.shown).joined(separator: ", ")
  }

  /// Takes one file of a folder.
  /// - Returns: whether it was whole, so that the next one may follow.
  func takeNext(
    _ path: String, _ file: DeliveredFile, _ turn: inout Turn, _ afterwards: inout Afterwards,
    _ tick: (RunControl.Progress) -> Void
  ) throws(UpsurgeError) -> Bool {
    if let group, let before = turn.deliveries.last {
      try group.closeDelivery(of: table.name)
      if !before.isWhole { return false }
    }
    var record = turn.record
    // Those of a group are noted when all of it is stored.
    if let before = turn.deliveries.last {
      record?.recordCount = before.load.summary.ledger.wanted
      if let shape = before.load.feed?.shape { record?.shape = shape }
    }
    let source = Source(file: path)
    let delivery = Delivery(
      load: try load([source], record, tick), sources: [source], files: [file], isTakenOnce: true)
    if group == nil {
      try take(delivery, &turn, &afterwards)
    } else {
      turn.deliveries.append(delivery)
    }
    return delivery.isWhole
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
    turn.summary.add(load)
    noteMixture(of: load, turn.former)
    let isNoted = !delivery.isTakenOnce || job.dryRun == nil
    // Until it is noted as the last delivery, what that was before says nothing of the table.
    if load.hasCommitted {
      turn.record?.disturbedBy =
        delivery.isTakenOnce ? delivery.sources.first?.shown : shownSources
    }
    guard delivery.isWhole, isNoted, var record = turn.record else {
      return afterwards.loads.append(delivery.load)
    }
    defer { turn.record = record }
    if let shape = delivery.load.takeFeedShape() { record.shape = shape }
    if delivery.isTakenOnce, let path = delivery.sources.first?.filePath, let file = delivery.files?.first {
      // Its mark stays until the file is noted, so that it is not loaded again.
      guard try delivered(path, known: KnownFiles()).hasContent(of: file) else {
        throw UpsurgeError(
          .badInput, "\(SourceName.shown(path)) was changed while it was loaded",
          hint: "write it under a name that ends with .tmp, and rename it")
      }
      try writableState().take([file], of: table.name)
      try note(load, [file], in: &record, isFirst: turn.summary.loads.count == 1)
      afterwards.add(delivery.load)
      afterwards.add(path, file, table.folder.done)
      return
    }
    afterwards.loads.append(delivery.load)
    let (sources, files) = (delivery.sources, delivery.files ?? [])
    let isStill = zip(sources, files).allSatisfy { DeliveredFile.Stamp($0) == $1.stamp }
    try note(load, isStill ? files : [], in: &record, isFirst: turn.summary.loads.count == 1)
    record.validators = sources.count == 1 ? load.response?.validators ?? HTTPValidators() : HTTPValidators()
  }

  /// Whether nothing that the last delivery has left is kept any more.
  func hasNothingLeft() -> Bool {
    guard let connection = try? lookingConnection(), let last = try? connection.lastRun(of: table.name)
    else { return false }
    return last.progress.ledger.rejected == 0 && (try? QuarantineTable.holds(table.name, connection)) == false
  }

  func delivered(_ path: String, known: KnownFiles) throws(UpsurgeError) -> DeliveredFile {
    let isFound = foundFolders.contains { path.hasPrefix($0) && !path.dropFirst($0.count).contains("/") }
    let file = try DeliveredFile.look(at: path, isFound: isFound, known: known) {
      control.cancellationSignal != nil
    }
    if let file { return file }
    throw UpsurgeError(
      .unreadableInput, "\(SourceName.shown(path)) is no regular file, or changes while it is read",
      hint: "write it under a name that ends with .tmp, and rename it")
  }

  /// Whether a file was taken before. Changes that come again would set rows back; a snapshot that comes again after
  /// another one is the truth again.
  private func isTaken(_ file: DeliveredFile, _ taken: KnownFiles, last: DeliveredFile?) -> Bool {
    if table.kind == .delta { return taken.holdsContent(of: file) }
    return last.map { $0.hasContent(of: file) } ?? false
      || taken.named(file.name).contains {
        $0.stamp.modified == file.stamp.modified && $0.hasContent(of: file)
      }
  }

  /// The folders in which files of a delta or a drop folder lie; of a glob over folders, none.
  private var folders: Set<String> {
    Set(
      table.sources.compactMap(\.filePath).map { path in
        if FolderListing.isFolder(path) { return path.hasSuffix("/") ? path : path + "/" }
        return path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
      })
  }

  /// The folders among the sources, with a slash at their end: their files are found there, and links in them not followed.
  var foundFolders: [String] {
    table.sources.compactMap(\.folderPath).map { $0.hasSuffix("/") ? $0 : $0 + "/" }
  }

  /// Says that links of a folder are left alone.
  private func noteLinks(_ links: [String]) {
    guard let first = links.first else { return }
    let more = links.count == 1 ? "" : ", and \(Words.count(UInt64(links.count - 1), "other link"))"
    note(
      RunNote(
        .warning,
        "\(SourceName.shown(first))\(more): a symbolic link in a drop folder is not followed; put the file itself there, or "
          + "name the link as a source of its own"))
  }

  /// The files of a delta or a drop folder, in order; says which links were left alone.
  private func paths() throws(UpsurgeError) -> [String] {
    let found = try table.found()
    noteLinks(found.links)
    return found.files
  }
}
