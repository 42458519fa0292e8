import Testing
import UpsurgeRecords

@Suite("Warning log")
struct WarningLogTests {
  private func position(_ line: UInt64) -> Position { Position(file: "f", line: line) }

  @Test("Counts by code and column, and keeps the first position", arguments: [3, 16, 17, 400])
  func counting(_ columnCount: Int) {
    var log = WarningLog()
    for round in 0..<3 {
      for column in 0..<columnCount {
        log.add(.spellingChanged, column: "c\(column)", at: position(UInt64(round * 1_000 + column)))
      }
      log.add(.blankLine, count: 2, at: position(UInt64(round)))
    }
    #expect(log.entries.count == columnCount + 1)
    #expect(log.entries.prefix(columnCount).map(\.column) == (0..<columnCount).map { "c\($0)" })
    #expect(log.entries.prefix(columnCount).allSatisfy { $0.count == 3 })
    #expect(log.entries.prefix(columnCount).map(\.first.line) == (0..<columnCount).map { UInt64($0) })
    #expect(log.entries.last?.code == .blankLine && log.entries.last?.column == nil)
    #expect(log.entries.last?.count == 6 && log.entries.last?.first == position(0))
  }

  @Test("Columns beyond a thousand are counted together, by code; merging in parts comes to the same")
  func others() {
    var whole = WarningLog()
    var parts = WarningLog()
    for part in 0..<5 {
      var log = WarningLog()
      for column in part * 500..<(part + 1) * 500 {
        for code in [WarningLog.Code.spellingChanged, .textInNumberColumn] {
          whole.add(code, column: "c\(column)", at: position(UInt64(column)))
          log.add(code, column: "c\(column)", at: position(UInt64(column)))
        }
      }
      parts.merge(log)
    }
    #expect(whole == parts)
    #expect(whole.entries.count == 2 * (WarningLog.columnLimit + 1))
    let others = whole.entries.filter { $0.column == WarningLog.otherColumns }
    #expect(others.map(\.count) == [1_500, 1_500])
    #expect(others.map(\.first.line) == [1_000, 1_000])
  }
}
