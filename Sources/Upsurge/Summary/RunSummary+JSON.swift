extension RunSummary {
  /// The summary as one JSON object, with the documented keys, and a line end.
  public var json: [UInt8] {
    JSONText.line { writeMembers(to: &$0) }
  }

  /// Writes the summary as members of the object that is open.
  package func writeMembers(to out: inout JSONText) {
    out.member("database", database)
    out.member("table", table)
    out.member("sources", sources)
    out.member("dialects", dialects)
    out.member(ledger)
    writeMeasures(to: &out)
    writeUpkeep(to: &out)
    out.member(rejectsByReason: rejectsByReason)
    if lostRejects != nil { out.member("rejects_kept", false) }
    out.member(warnings)
    writeEnding(to: &out)
  }

  private func writeMeasures(to out: inout JSONText) {
    out.member("seconds", metrics.seconds)
    out.member("bytes_read", metrics.bytesRead)
    out.member("bytes_decoded", metrics.bytesDecoded)
    out.member("rows_per_second", rowsPerSecond.rounded())
    out.member(stages: metrics.stages)
    if let bottleneck { out.member("bottleneck", bottleneck) }
    out.member("wal_bytes_written", wal.bytesWritten)
    out.member("wal_bytes_peak", wal.bytesPeak)
    if let pin = wal.pin { write(pin, to: &out) }
    out.member("peak_memory_bytes", metrics.peakMemoryBytes)
    out.member("settings") { out in
      for setting in metrics.settings { out.member(setting.name, setting.value) }
    }
  }

  private func write(_ pin: LogPin, to out: inout JSONText) {
    out.member("wal_pinned") { out in
      out.member("cause", "\(pin.holder) reads from the log")
      out.member("seconds", pin.seconds)
      out.member("pause_seconds", pin.pauseSeconds)
      out.member("bytes_peak", UInt64(pin.peakByteCount))
      out.member("bytes_left", UInt64(pin.leftByteCount))
    }
  }

  private func writeUpkeep(to out: inout JSONText) {
    if upkeep.isEmpty { return }
    out.member("upkeep", upkeep) { out, decision in
      out.member("kind", decision.kind.rawValue)
      out.member("name", decision.name)
      out.member("decision", decision.upkeep.rawValue)
      out.member("reason", decision.reason)
    }
  }

  private func writeEnding(to out: inout JSONText) {
    if let createdTable { out.member("created_table", createdTable) }
    out.member("superseded", supersededCount)
    out.member(localEdits)
    if isDryRun { out.member("dry_run", true) }
    if let explanation { out.member("explanation", explanation) }
    out.member("committed_records", progress.committedCount)
    if progress.resumedCount > 0 { out.member("resumed_records", progress.resumedCount) }
    if progress.isResumable && (error != nil || signal != nil) { out.member("resumable", true) }
    if let resumingCommand { out.member("resume_command", resumingCommand.line) }
    if let committedThrough = progress.committedThrough {
      out.member("committed_through") { $0.members(of: committedThrough) }
    }
    if let guardRefusal { out.failure("guard", guardRefusal) }
    if let refusedDelivery = acceptance.refusedDigest { out.member("refused_delivery", refusedDelivery) }
    if acceptance.isByDigest { out.member("accepted_by_digest", true) }
    out.ending(error, exitCode: exitCode)
  }
}
