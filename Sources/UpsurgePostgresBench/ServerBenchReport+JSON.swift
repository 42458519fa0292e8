import Upsurge
import UpsurgeBench
import UpsurgeRecords

extension ServerBenchReport {
  /// The report as one JSON object with a line end.
  package var json: [UInt8] {
    var out = JSONText()
    out.beginObject()
    out.member("upsurge", upsurgeVersion)
    out.key("rows")
    out.number(rowCount)
    out.key("bytes")
    out.number(inputByteCount)
    writeServer(to: &out)
    machine.write(to: &out)
    out.key("results")
    out.beginArray()
    for entry in entries { write(entry, to: &out) }
    out.endArray()
    out.key("notes")
    out.strings(notes.map(\.text))
    out.key("commands")
    out.strings([command])
    out.endObject()
    out.newline()
    return out.bytes
  }

  private func writeServer(to out: inout JSONText) {
    out.key("server")
    out.beginObject()
    out.member("name", server.name)
    out.member("version", server.version)
    out.key("round_trip_seconds")
    out.number(server.roundTripSeconds)
    out.key("settings")
    out.beginObject()
    for setting in server.settings { out.member(setting.name, setting.value) }
    out.endObject()
    out.endObject()
  }

  private func write(_ entry: Entry, to out: inout JSONText) {
    out.beginObject()
    out.member("suite", entry.suite.rawValue)
    entry.figures.writeMembers(rowsPerSecond: entry.rowsPerSecond, ratio: ratio(entry), to: &out)
    out.key("rows")
    out.number(entry.rowCount)
    for (name, value) in [("log_bytes", entry.logByteCount), ("dead_rows", entry.deadRowCount)] {
      guard let value else { continue }
      out.key(name)
      out.number(value)
    }
    out.endObject()
  }
}
