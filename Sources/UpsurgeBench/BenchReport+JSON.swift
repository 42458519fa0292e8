import Upsurge
import UpsurgeRecords

extension BenchReport {
  /// The report as one JSON object with a line end.
  package var json: [UInt8] {
    JSONText.line { out in
      out.member("upsurge", upsurgeVersion)
      out.member("suite", suite.rawValue)
      out.member("input", input)
      out.member("rows", rowCount)
      out.member("bytes", inputByteCount)
      machine.write(to: &out)
      out.member("sqlite") { out in
        out.member("version", sqlite.version)
        out.member("compile_options", sqlite.options)
      }
      out.member("settings") { out in
        for setting in settings { out.member(setting.name, setting.value) }
      }
      out.member("results", entries) { out, entry in
        entry.writeMembers(rowsPerSecond: rowsPerSecond(entry), ratio: ratio(entry), to: &out)
      }
      out.member("notes", notes.map(\.text))
      out.member("commands", commands)
    }
  }
}

extension MachineFacts {
  /// Writes the member `machine` of the object that is open.
  package func write(to out: inout JSONText) {
    out.member("machine") { out in
      out.member("processor", processor)
      out.member("cores", UInt64(coreCount))
      out.member("memory_bytes", memoryByteCount)
      out.member("file_system", fileSystem)
      out.member("system", system)
      out.member("load", load)
    }
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
      out.member(name, value)
    }
    if median != nil {
      out.member("noisy", isNoisy)
    }
  }
}
