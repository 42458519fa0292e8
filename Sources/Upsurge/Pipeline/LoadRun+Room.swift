extension LoadRun {
  /// Says so when the disk clearly has too little room for the input.
  ///
  /// A row rarely takes less than half the bytes of its record; where most are unchanged, all is well nevertheless, so
  /// the run goes on.
  func warnOfRoom(_ first: PreparedSource, sources: some Sequence<Source>) {
    if job.options.output.isTrial { return }
    guard let total = totalByteCount(of: sources), first.opened.counter.count > 0,
      let free = DiskSpace.free(at: job.database)
    else { return }
    let ratio = Double(first.opened.sample.count) / Double(first.opened.counter.count)
    let byteCount = Double(total) * max(ratio, 1)
    guard Double(free) < byteCount / 2, byteCount < Double(Int.max) else { return }
    note(
      RunNote(
        .warning,
        "the input is about \(Int(byteCount) >> 20) MiB, and the disk of \(job.database) has \(free >> 20) MiB free;"
          + " if that is not enough, the run ends at a commit"))
  }
}
