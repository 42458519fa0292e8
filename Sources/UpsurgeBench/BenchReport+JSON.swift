import Upsurge
import UpsurgeRecords

extension BenchReport {
  /// The report as one JSON object with a line end.
  package var json: [UInt8] {
    var out = JSONText()
    out.beginObject()
    out.member("upsurge", upsurgeVersion)
    out.member("suite", suite.rawValue)
    out.member("input", input)
    out.key("rows")
    out.number(rowCount)
    out.key("bytes")
    out.number(inputByteCount)
    machine.write(to: &out)
    writeSQLite(to: &out)
    out.key("settings")
    out.beginObject()
    for setting in settings { out.member(setting.name, setting.value) }
    out.endObject()
    out.key("results")
    out.beginArray()
    for entry in entries {
      out.beginObject()
      entry.writeMembers(rowsPerSecond: rowsPerSecond(entry), ratio: ratio(entry), to: &out)
      out.endObject()
    }
    out.endArray()
    out.key("notes")
    out.strings(notes.map(\.text))
    out.key("commands")
    out.strings(commands)
    out.endObject()
    out.newline()
    return out.bytes
  }

  private func writeSQLite(to out: inout JSONText) {
    out.key("sqlite")
    out.beginObject()
    out.member("version", sqlite.version)
    out.key("compile_options")
    out.strings(sqlite.options)
    out.endObject()
  }
}

extension MachineFacts {
  /// Writes the member `machine` of the object that is open.
  package func write(to out: inout JSONText) {
    out.key("machine")
    out.beginObject()
    out.member("processor", processor)
    out.key("cores")
    out.number(UInt64(coreCount))
    out.key("memory_bytes")
    out.number(memoryByteCount)
    out.member("file_system", fileSystem)
    out.member("system", system)
    out.key("load")
    out.number(load)
    out.endObject()
  }
}

extension BenchReport.Entry {
  /// Writes name, runs and figures as members of the object that is open.
  package func writeMembers(rowsPerSecond: Double?, ratio: Double?, to out: inout JSONText) {
    out.member("name", name)
    out.member("kind", kind.rawValue)
    out.member("detail", detail)
    if let absence { out.member(absence.isFailure ? "failed" : "not_measured", absence.reason.text) }
    out.key("runs")
    out.beginArray()
    if absence == nil { for seconds in runs { out.number(seconds) } }
    out.endArray()
    for (name, value) in [
      ("median", median), ("spread", spread), ("rows_per_second", rowsPerSecond?.rounded()), ("ratio", ratio),
    ] {
      guard let value else { continue }
      out.key(name)
      out.number(value)
    }
    if median != nil {
      out.key("noisy")
      out.bool(isNoisy)
    }
  }
}
