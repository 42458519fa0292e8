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
    writeMachine(to: &out)
    out.key("settings")
    out.beginObject()
    for setting in settings { out.member(setting.name, setting.value) }
    out.endObject()
    out.key("results")
    out.beginArray()
    for entry in entries { write(entry, to: &out) }
    out.endArray()
    out.key("notes")
    out.strings(notes.map(\.text))
    out.key("commands")
    out.strings(commands)
    out.endObject()
    out.newline()
    return out.bytes
  }

  private func writeMachine(to out: inout JSONText) {
    out.key("machine")
    out.beginObject()
    out.member("processor", machine.processor)
    out.key("cores")
    out.number(UInt64(machine.coreCount))
    out.key("memory_bytes")
    out.number(machine.memoryByteCount)
    out.member("file_system", machine.fileSystem)
    out.member("system", machine.system)
    out.key("load")
    out.number(machine.load)
    out.endObject()
    out.key("sqlite")
    out.beginObject()
    out.member("version", sqlite.version)
    out.key("compile_options")
    out.strings(sqlite.options)
    out.endObject()
  }

  private func write(_ entry: Entry, to out: inout JSONText) {
    out.beginObject()
    out.member("name", entry.name)
    out.member("kind", entry.kind.rawValue)
    out.member("detail", entry.detail)
    if let absence = entry.absence {
      out.member(absence.isFailure ? "failed" : "not_measured", absence.reason.text)
    }
    out.key("runs")
    out.beginArray()
    if entry.absence == nil { for seconds in entry.runs { out.number(seconds) } }
    out.endArray()
    for (name, value) in [
      ("median", entry.median), ("spread", entry.spread),
      ("rows_per_second", rowsPerSecond(entry)?.rounded()),
      ("ratio", ratio(entry)),
    ] {
      guard let value else { continue }
      out.key(name)
      out.number(value)
    }
    if entry.median != nil {
      out.key("noisy")
      out.bool(entry.isNoisy)
    }
    out.endObject()
  }
}
