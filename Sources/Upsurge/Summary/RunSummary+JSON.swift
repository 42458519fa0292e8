extension RunSummary {
  /// The summary as one JSON object, with the documented keys, and a line end.
  public var json: [UInt8] {
    var out = JSONText()
    write(to: &out)
    out.newline()
    return out.bytes
  }

  /// Writes the summary as one JSON object that is part of another text.
  package func write(to out: inout JSONText) {
    out.beginObject()
    out.key("database")
    out.string(database)
    out.key("table")
    out.string(table)
    out.key("sources")
    out.strings(sources)
    out.key("dialects")
    out.strings(dialects)
    out.member(ledger)
    writeMeasures(to: &out)
    writeUpkeep(to: &out)
    out.member(rejectsByReason: rejectsByReason)
    if lostRejects != nil {
      out.key("rejects_kept")
      out.bool(false)
    }
    out.member(warnings)
    writeEnding(to: &out)
    out.endObject()
  }

  private func writeMeasures(to out: inout JSONText) {
    out.key("seconds")
    out.number(metrics.seconds)
    out.key("bytes_read")
    out.number(metrics.bytesRead)
    out.key("bytes_decoded")
    out.number(metrics.bytesDecoded)
    out.key("rows_per_second")
    out.number(rowsPerSecond.rounded())
    out.member(stages: metrics.stages)
    if let bottleneck { out.member("bottleneck", bottleneck) }
    out.key("wal_bytes_written")
    out.number(wal.bytesWritten)
    out.key("wal_bytes_peak")
    out.number(wal.bytesPeak)
    if let pin = wal.pin { write(pin, to: &out) }
    out.key("peak_memory_bytes")
    out.number(metrics.peakMemoryBytes)
    out.key("settings")
    out.beginObject()
    for setting in metrics.settings {
      out.key(setting.name)
      out.number(setting.value)
    }
    out.endObject()
  }

  private func write(_ pin: LogPin, to out: inout JSONText) {
    out.key("wal_pinned")
    out.beginObject()
    out.key("cause")
    out.string("\(pin.holder) reads from the log")
    out.key("seconds")
    out.number(pin.seconds)
    out.key("pause_seconds")
    out.number(pin.pauseSeconds)
    out.key("bytes_peak")
    out.number(UInt64(pin.peakByteCount))
    out.key("bytes_left")
    out.number(UInt64(pin.leftByteCount))
    out.endObject()
  }

  private func writeUpkeep(to out: inout JSONText) {
    if upkeep.isEmpty { return }
    out.key("upkeep")
    out.beginArray()
    for decision in upkeep {
      out.beginObject()
      out.key("kind")
      out.string(decision.kind.rawValue)
      out.key("name")
      out.string(decision.name)
      out.key("decision")
      out.string(decision.upkeep.rawValue)
      out.key("reason")
      out.string(decision.reason)
      out.endObject()
    }
    out.endArray()
  }

  private func writeEnding(to out: inout JSONText) {
    if let createdTable {
      out.key("created_table")
      out.string(createdTable)
    }
    out.key("superseded")
    out.number(supersededCount)
    out.member(localEdits)
    if isDryRun {
      out.key("dry_run")
      out.bool(true)
    }
    if let explanation {
      out.key("explanation")
      out.string(explanation)
    }
    out.key("committed_records")
    out.number(progress.committedCount)
    if progress.resumedCount > 0 {
      out.key("resumed_records")
      out.number(progress.resumedCount)
    }
    if progress.isResumable && (error != nil || signal != nil) {
      out.key("resumable")
      out.bool(true)
    }
    if let resumingCommand {
      out.key("resume_command")
      out.string(resumingCommand.line)
    }
    if let committedThrough = progress.committedThrough {
      out.key("committed_through")
      out.beginObject()
      out.members(of: committedThrough)
      out.endObject()
    }
    if let guardRefusal { out.failure("guard", guardRefusal) }
    if let refusedDelivery = acceptance.refusedDigest {
      out.key("refused_delivery")
      out.string(refusedDelivery)
    }
    if acceptance.isByDigest {
      out.key("accepted_by_digest")
      out.bool(true)
    }
    out.ending(error, exitCode: exitCode)
  }
}
