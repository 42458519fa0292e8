import TestSupport
import Testing
import UpsurgeSQLite
import UpsurgeState
import UpsurgeStorage

@testable import UpsurgeMirror

/// A database of one layout that a table of Upsurge's own has had, as its CREATE TABLE of then has made it.
struct LayoutFixture: Sendable, CustomTestStringConvertible {
  let layout: OwnLayout
  let number: Int

  /// Of all tables.
  static let layouts =
    [
      RunTable.layout, RejectTable.layout, RejectTable.contexts, ReplayMark.layout, QuarantineTable.layout,
      RowStateTable.layout, ChunkTable.layout, PendingWork.layout, FeedTable.layout, TakenFiles.layout,
    ] + UnacceptedState.layouts

  static let all = layouts.flatMap { layout in
    (1...layout.number).map { LayoutFixture(layout: layout, number: $0) }
  }

  static func all(of layout: OwnLayout) -> [LayoutFixture] { all.filter { $0.layout.name == layout.name } }

  var name: String { layout.name }
  var testDescription: String { "\(name) \(number)" }

  /// SQL that makes it.
  func sql() throws -> String {
    let folder = #filePath.prefix(upTo: #filePath.lastIndex(of: "/") ?? #filePath.endIndex)
    return try String(
      decoding: readFile("\(folder)/../Fixtures/Layouts/\(name).\(number).sql"), as: UTF8.self)
  }

  /// What a database holds of the schema and of the table.
  func state(_ database: Database) throws -> [String] {
    try database.rows("SELECT name, sql FROM sqlite_schema ORDER BY name")
      + database.rows("SELECT * FROM \(name) ORDER BY 1, 2")
  }
}

extension OwnLayout {
  /// The SQL that makes the table, with another number in its mark.
  func creation(saying words: String) -> String {
    creation.replacing("/* upsurge layout \(number) */", with: "/* upsurge layout \(words) */")
  }
}
