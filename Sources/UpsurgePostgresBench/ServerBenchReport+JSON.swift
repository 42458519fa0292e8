import Upsurge
import UpsurgeBench
import UpsurgeRecords

extension ServerBenchReport {
  /// The report as one JSON object with a line end.
  package var json: [UInt8] {
    JSONText.line { out in
      out.member("upsurge", upsurgeVersion)
      out.member("rows", rowCount)
      out.member("bytes", inputByteCount)
      out.member("server") { writeServer(to: &$0) }
      machine.write(to: &out)
      out.member("results", entries) { write($1, to: &$0) }
      out.member("notes", notes.map(\.text))
      out.member("commands", [command])
    }
  }

  private func writeServer(to out: inout JSONText) {
    out.member("name", server.name)
    out.member("version", server.version)
    out.member("round_trip_seconds", server.roundTripSeconds)
    out.member("settings") { out in
      for setting in server.settings { out.member(setting.name, setting.value) }
    }
  }

  private func write(_ entry: Entry, to out: inout JSONText) {
    out.member("suite", entry.suite.rawValue)
    entry.figures.writeMembers(rowsPerSecond: entry.rowsPerSecond, ratio: ratio(entry), to: &out)
    out.member("rows", entry.rowCount)
    for (name, value) in [("log_bytes", entry.logByteCount), ("dead_rows", entry.deadRowCount)] {
      guard let value else { continue }
      out.member(name, value)
    }
  }
}
