import Upsurge
import UpsurgeRecords

extension MoveSummary {
  /// The summary as one JSON object, with a line end.
  package var json: [UInt8] {
    var out = JSONText()
    out.beginObject()
    for (key, text) in [("source", source), ("target", target)] {
      out.key(key)
      out.string(text)
    }
    out.key("equal")
    out.bool(isVerified)
    out.key("tables")
    out.beginObject()
    for table in tables {
      out.key(table.name)
      table.write(to: &out)
    }
    out.endObject()
    out.key("not_moved")
    out.beginArray()
    for entry in (plan?.leftOut ?? []) + refusals {
      out.beginObject()
      out.key("what")
      out.string(entry.what)
      out.key("reason")
      out.string(entry.reason)
      out.endObject()
    }
    out.endArray()
    out.key("seconds")
    out.number(seconds)
    out.ending(error, exitCode: exitCode)
    out.endObject()
    out.newline()
    return out.bytes
  }
}

extension MoveSummary.Table {
  fileprivate func write(to out: inout JSONText) {
    out.beginObject()
    out.key("rows")
    out.number(rowCount)
    out.key("bytes")
    out.number(byteCount)
    out.key("seconds")
    out.number(seconds)
    out.key("digest")
    if let digest { out.string(digest) } else { out.null() }
    out.endObject()
  }
}
