import Upsurge
import UpsurgeMove

/// A move in words.
enum MoveText {
  /// The plan, as `--dry-run` and `--explain` print it.
  static func plan(_ plan: MovePlan, showsSQL: Bool) -> String {
    var lines: [String] = []
    if showsSQL { lines += plan.preparation.map { $0 + ";" } }
    for table in plan.tables {
      let rows = table.rowCount.map { ": \(Words.count($0, "row"))" } ?? ""
      lines.append("table \(table.name)\(rows)")
      lines += columns(of: table)
      if showsSQL { lines += (table.creation + ";").split(separator: "\n").map { "    \($0)" } }
    }
    if !plan.finishing.isEmpty { lines.append("after the rows:") }
    for step in plan.finishing {
      lines.append("  \(step.title)")
      if showsSQL, let sql = step.sql { lines.append("    \(sql);") }
    }
    lines += notMoved(plan.leftOut)
    return lines.map { $0 + "\n" }.joined()
  }

  private static func columns(of table: PlannedTable) -> [String] {
    let width = table.columns.map(\.name.count).max() ?? 0
    let typeWidth = table.columns.map { declared($0).count }.max() ?? 0
    return table.columns.map { column in
      let generated = column.isGenerated ? "  (generated)" : ""
      return
        "  \(padded(column.name, width))  \(padded(declared(column), typeWidth))  -> \(column.targetType)\(generated)"
    }
  }

  private static func declared(_ column: PlannedColumn) -> String {
    column.sourceType.isEmpty ? "(any)" : column.sourceType
  }

  private static func notMoved(_ leftOut: [LeftOut]) -> [String] {
    leftOut.isEmpty ? [] : ["not moved:"] + leftOut.map { "  \($0.what): \($0.reason)" }
  }

  /// What a move did.
  static func text(_ summary: MoveSummary) -> String {
    var lines: [String] = []
    if summary.isVerified || summary.tables.contains(where: { $0.digest != nil }) {
      lines += tables(summary.tables)
    }
    if summary.isVerified {
      let isOne = summary.tables.count == 1
      let what = summary.wasDone ? "had moved already, and \(isOne ? "was" : "were") compared" : "moved"
      lines += notMoved((summary.plan?.leftOut ?? []) + summary.refusals)
      lines.append(
        "\(summary.source) -> \(summary.target): \(count(summary.tables.count, "table")) \(what) in \(Words.seconds(summary.seconds)), equal on both sides"
      )
    } else if summary.hasCommitted {
      let filled = summary.tables.count
      lines.append(
        "\(summary.source) -> \(summary.target): \(count(filled, "table")) of \(summary.plan?.tables.count ?? 0) have their rows; the same command goes on"
      )
    }
    return lines.map { $0 + "\n" }.joined()
  }

  private static func count(_ number: Int, _ noun: String) -> String { Words.count(UInt64(number), noun) }

  private static func tables(_ tables: [MoveSummary.Table]) -> [String] {
    let rows = tables.map { table in
      [
        table.name, Words.count(table.rowCount), Words.bytes(Double(table.byteCount)),
        Words.seconds(table.seconds),
        table.digest ?? "not compared",
      ]
    }
    let all = [["table", "rows", "bytes", "time", "digest of both"]] + rows
    let widths = (0..<5).map { column in all.map { $0[column].count }.max() ?? 0 }
    return all.map { row in
      let cells = row.enumerated().map { index, cell in
        (1...3).contains(index) ? padded(cell, widths[index], isRight: true) : padded(cell, widths[index])
      }
      var line = cells.joined(separator: "  ")
      while line.last == " " { line.removeLast() }
      return line
    }
  }

  private static func padded(_ text: String, _ width: Int, isRight: Bool = false) -> String {
    let space = String(repeating: " ", count: max(0, width - text.count))
    return isRight ? space + text : text + space
  }
}
