extension PastRun {
  /// Runs as one JSON array and a line end; the words are those of a run's summary.
  public static func json(_ runs: [PastRun]) -> [UInt8] {
    var out = JSONText()
    out.beginArray()
    for run in runs { run.write(to: &out) }
    out.endArray()
    out.newline()
    return out.bytes
  }

  private func write(to out: inout JSONText) {
    out.beginObject()
    out.key("run")
    out.number(id)
    out.key("state")
    out.string(state.rawValue)
    if let pid {
      out.key("pid")
      out.number(Int64(pid))
    }
    out.key("table")
    out.string(table)
    out.key("sources")
    out.strings(sources)
    if state == .stopped {
      out.key("resumable")
      out.bool(isResumable)
    }
    if let command {
      out.key("command")
      out.string(command)
    }
    out.key("started_at")
    out.string(startedAt)
    out.key("updated_at")
    out.string(updatedAt)
    out.key("seconds")
    out.number(seconds)
    out.member(ledger)
    out.member(rejectsByReason: rejectsByReason)
    if let committedThrough {
      out.key("committed_through")
      out.beginObject()
      out.members(of: committedThrough)
      out.endObject()
    }
    if let exitCode {
      out.key("exit_code")
      out.number(Int64(exitCode))
    }
    out.endObject()
  }
}
