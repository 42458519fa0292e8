import Upsurge
import UpsurgeRecords

extension MoveSummary {
  /// The summary as one JSON object, with a line end.
  package var json: [UInt8] {
    JSONText.line { out in
      out.member("source", source)
      out.member("target", target)
      out.member("equal", isVerified)
      out.member("tables") { out in
        for table in tables { out.member(table.name) { table.write(to: &$0) } }
      }
      out.member("not_moved", (plan?.leftOut ?? []) + refusals) { out, entry in
        out.member("what", entry.what)
        out.member("reason", entry.reason)
      }
      out.member("seconds", seconds)
      out.ending(error, exitCode: exitCode)
    }
  }
}

extension MoveSummary.Table {
  fileprivate func write(to out: inout JSONText) {
    out.member("rows", rowCount)
    out.member("bytes", byteCount)
    out.member("seconds", seconds)
    out.member("digest", orNull: digest)
  }
}
