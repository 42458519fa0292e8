import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgeCommand
@testable import UpsurgeMirror

/// Every key of a job file that changes what records say makes another feed of it.
@Suite("What makes another feed of a table") struct FeedWordTests {
  /// What a key may do to the records that were accepted.
  private enum Effect {
    /// With this value, records say something else: another feed from the start.
    case other(String)
    /// As above, but new it is welcome, as messages ask for it. The second value in the place of the first is another feed.
    case answer(String, String)
    /// Records say the same: why that is so.
    case none(String)
  }

  private static let howRowsChange = "how rows change, not what records say"
  private static let newTables = "what a new table is made of"
  private static let run = "how a run goes"

  /// All keys of a table. Who adds a key adds it here, and finds out whether a change of it is guarded.
  private static let effects: [Term: Effect] = [
    .format: .answer("csv", "ndjson"), .encoding: .answer("latin-1", "utf-8"),
    .delimiter: .answer(";", "'|'"),
    .widths: .answer("[1, 2]", "[2, 1]"), .quote: .answer("'\"'", "none"), .escape: .answer("'\\'", "'^'"),
    .comment: .answer("'#'", "'%'"), .headerLines: .answer("1", "2"), .skipLines: .answer("1", "2"),
    .names: .answer("[id, a]", "[a, id]"), .ragged: .answer("pad", "extra"),
    .noHeader: .answer("true", "false"),
    .quotes: .answer("lenient", "strict"), .jsonNaN: .answer("'null'", "reject"),
    .null: .other("A"), .quotedEmpty: .other("text"), .dialect: .other("mysql"), .sheet: .other("Data"),
    .flatten: .other("true"),
    .jsonPath: .other("data"), .jsonMap: .other("name"), .duplicateKeys: .other("reject"),
    .columns: .other("[id]"),
    .rename: .other("{a: b}"), .let: .other("{n: id}"), .where: .other("\"id > '1'\""), .blob: .other("hex"),
    .date: .other("{a: '%d/%m/%Y'}"), .decimal: .other("comma"), .thousands: .other("comma"),
    .bool: .other("[a]"),
    .trim: .other("blanks"), .key: .other("[a]"), .kind: .other("delta"), .scope: .other("\"id > 1\""),
    .add: .none("where a row comes from, whatever its record says"),
    .compression: .none("the bytes are the same"),
    .type: .none(newTables), .infer: .none(newTables), .strict: .none(newTables), .notNull: .none(newTables),
    .default: .none(newTables), .create: .none(newTables), .alter: .none(newTables),
    .contract: .none(newTables),
    .blobFolder: .none("where files lie"), .maxRatio: .none(run), .memory: .none(run),
    .initScript: .none(run), .onError: .none(run),
    .rejects: .none(run), .maxRejects: .none(run), .durability: .none(run), .commitEvery: .none(run),
    .walLimit: .none(run),
    .busyTimeout: .none(run), .inputOrder: .none(run), .connections: .none(run), .stateSchema: .none(run),
    .deadline: .none(run),
    .retries: .none(run), .retryAfter: .none(run), .keepRuns: .none(run), .keepFiles: .none(run),
    .keepRejects: .none(run),
    .keepQuarantine: .none(run), .triggers: .none(run), .foreignKeys: .none(run), .indexes: .none(run),
    .fts: .none(run),
    .index: .none(run), .createKey: .none(run),
    .keyWhere: .none("the key is named all the same"), .keyIndex: .none("the key is named all the same"),
    .anyKey: .none("the key is named all the same"),
    .nullKeys: .none(howRowsChange), .mode: .none(howRowsChange), .merge: .none(howRowsChange),
    .set: .none(howRowsChange),
    .updateIf: .none(howRowsChange), .deleteWhen: .none(howRowsChange), .rowState: .none(howRowsChange),
    .localEdits: .none(howRowsChange), .columnsGone: .none(howRowsChange), .sweep: .none(howRowsChange),
    .ownedBy: .none("the feed is looked up by it"),
  ]

  @Test("Each key of a job file is judged") func complete() {
    let keys = Set(OptionCatalogue.keys.filter { $0.group == nil }.map(\.term))
    #expect(keys == Set(Self.effects.keys), "\(keys.symmetricDifference(Self.effects.keys))")
  }

  private func identity(_ lines: String...) throws -> FeedIdentity { try identity(lines) }

  private func identity(_ lines: [String]) throws -> FeedIdentity {
    let text = "tables:\n  t:\n    source: a.csv\n" + lines.map { "    \($0)\n" }.joined()
    let job = try JobFileReader(file: "job.yaml") { _ in nil }.read(Array(text.utf8), database: "a.db").job
    return FeedIdentity(try #require(job.tables.first))
  }

  @Test("A key that changes what records say is told when it comes, changes and goes") func changes() throws {
    let plain = try identity()
    let fields = ["id", "a"]
    for (term, effect) in Self.effects {
      switch effect {
      case .none: continue
      case .other(let value):
        // A scope is of what is swept.
        let rules = term == .scope ? ["sweep: hard", "key: id"] : []
        let plain = try identity(rules)
        let other = try identity(["\(term.rawValue): \(value)"] + rules)
        let words = other.changes(from: plain, fields: fields)
        #expect(!words.isEmpty, "\(term)")
        // With all columns again, nothing goes stale.
        if term != .columns {
          #expect(plain.changes(from: other, fields: fields).isEmpty == false, "\(term)")
        }
        #expect(other.changes(from: other, fields: fields).isEmpty, "\(term)")
      case .answer(let value, let next):
        let given = try identity("\(term.rawValue): \(value)")
        #expect(given.changes(from: plain, fields: fields).isEmpty, "\(term)")
        #expect(
          try identity("\(term.rawValue): \(next)").changes(from: given, fields: fields).isEmpty == false,
          "\(term)")
        #expect(plain.changes(from: given, fields: fields).isEmpty == false, "\(term)")
      }
    }
  }

  @Test("What is noted is read again, and what an earlier version has noted binds nobody") func noted() throws
  {
    let now = try identity("where: kind = 'B'", "null: [A, 'b=C']", "columns: [id, a]")
    let text = FeedText.encode(now, hasDelivered: true)
    #expect(try FeedText.feed(text).identity == now)
    var earlier = now
    earlier.records = nil
    let old = try FeedText.feed(FeedText.encode(earlier, hasDelivered: true)).identity
    #expect(old.records == nil && now.changes(from: old, fields: ["id", "a", "b"]).isEmpty)
  }

  @Test("Columns and names that leave all as it was make no other feed") func harmless() throws {
    let plain = try identity()
    let both = try identity("columns: [id, a]")
    #expect(both.changes(from: plain, fields: ["ID", "a"]).isEmpty)
    #expect(
      both.changes(from: plain, fields: ["id", "a", "b"]) == [
        "columns (leaves out b, where rows keep their values)"
      ])
    #expect(try identity("columns: [a, id, c]").changes(from: both, fields: ["id", "a"]).isEmpty)
    #expect(try identity("columns: [id]").changes(from: both, fields: []).count == 1)
    // The feed has a new name for the key.
    #expect(try identity("rename: {nr: id}").changes(from: plain, fields: ["id", "a"]).isEmpty)
    #expect(
      try identity("where: kind = 'B'").changes(from: identity("where: kind = 'A'"), fields: []) == [
        "where kind = 'B' (was kind = 'A')"
      ])
  }
}
