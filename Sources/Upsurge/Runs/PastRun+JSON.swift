extension PastRun {
  /// Runs as one JSON array and a line end; the words are those of a run's summary.
  public static func json(_ runs: [PastRun]) -> [UInt8] {
    var out = JSONText()
    out.array(runs) { $1.writeMembers(to: &$0) }
    out.newline()
    return out.bytes
  }

  private func writeMembers(to out: inout JSONText) {
    out.member("run", id)
    out.member("state", state.rawValue)
    if let pid { out.member("pid", Int64(pid)) }
    out.member("table", table)
    out.member("sources", sources)
    if state == .stopped { out.member("resumable", isResumable) }
    if let command { out.member("command", command) }
    out.member("started_at", startedAt)
    out.member("updated_at", updatedAt)
    out.member("seconds", seconds)
    out.member(ledger)
    out.member(rejectsByReason: rejectsByReason)
    if let committedThrough {
      out.member("committed_through") { $0.members(of: committedThrough) }
    }
    if let exitCode { out.member("exit_code", Int64(exitCode)) }
  }
}
