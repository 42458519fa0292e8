import Testing
import UpsurgeRecords

@testable import UpsurgeStorage

/// Foreign keys that are looked at when the transaction ends.
@Suite struct DeferredReferenceTests {
  private static let tree =
    "CREATE TABLE t(id INTEGER PRIMARY KEY, up INTEGER REFERENCES t(id), n); INSERT INTO t VALUES(1, NULL, 'root'),(2, 1, 'old');"

  private func load(
    _ setup: String, _ rows: [[Value]], isDeferred: Bool = true, commitEvery: Int = 1000,
    onError: ErrorPolicy = .reject
  ) throws(UpsurgeError) -> (ledger: String, rejects: [String], rows: [[Value]]) {
    let connection = try TemporaryDatabase().open(setup)
    var settings = WriterSettings()
    settings.defersForeignKeys = isDeferred
    var cut = Cut()
    cut.commitEvery = commitEvery
    let (writer, rejects) = try UpsurgeStorageTests.load(
      connection, "t", ["id", "up", "n"], rows, key: ["id"], cut: cut, onError: onError, settings: settings)
    #expect(writer.ledger.isBalanced)
    let broken = try connection.rows("PRAGMA foreign_key_check")
    #expect(broken.isEmpty)
    return (writer.ledger.text, rejects.map(\.line), try connection.rows("SELECT * FROM t ORDER BY id"))
  }

  @Test func aParentMayComeLater() throws {
    let outcome = try load(Self.tree, [[5, 6, "child"], [6, 1, "parent"], [2, 5, "new"]])
    #expect(outcome.ledger == "read 3 inserted 2 updated 1")
    #expect(outcome.rows == [[1, nil, "root"], [2, 5, "new"], [5, 6, "child"], [6, 1, "parent"]])
  }

  @Test func aRecordWhoseParentNeverComesIsRejectedAndItsRowIsAsBefore() throws {
    let outcome = try load(
      Self.tree, [[5, 9, "orphan"], [2, 9, "changed"], [7, 5, "of the orphan"], [8, 2, "fine"]])
    #expect(outcome.ledger == "read 4 inserted 1 rejected 3")
    #expect(
      outcome.rejects.sorted() == [
        "1 foreign-key up: the record refers by (up) to t (id), which has no such row",
        "2 foreign-key up: the record refers by (up) to t (id), which has no such row",
        "3 foreign-key up: the record refers by (up) to t (id), which has no such row",
      ])
    #expect(outcome.rows == [[1, nil, "root"], [2, 1, "old"], [8, 2, "fine"]])
  }

  @Test func theLastRecordOfARowDecides() throws {
    let healed = try load(Self.tree, [[2, 9, "open"], [2, 1, "healed"]])
    #expect(healed.ledger == "read 2 updated 2")
    let broken = try load(Self.tree, [[2, 1, "first"], [2, 9, "second"], [2, 8, "third"]])
    #expect(broken.ledger == "read 3 updated 1 rejected 2")
    #expect(broken.rows == [[1, nil, "root"], [2, 1, "first"]])
  }

  @Test func anInitiallyDeferredKeyIsFollowedWithoutBeingAsked() throws {
    let setup =
      "CREATE TABLE p(a, b, PRIMARY KEY (a, b)) WITHOUT ROWID; INSERT INTO p VALUES(1, 'x');"
      + "CREATE TABLE t(id TEXT PRIMARY KEY, up INTEGER, n, FOREIGN KEY (up, n) REFERENCES p DEFERRABLE INITIALLY DEFERRED) WITHOUT ROWID;"
    let outcome = try load(
      setup, [["a", 1, "x"], ["b", 1, "y"], ["c", nil, "y"]], isDeferred: false, commitEvery: 2)
    #expect(outcome.ledger == "read 3 inserted 2 rejected 1")
    #expect(
      outcome.rejects == [
        "2 foreign-key up, n: the record refers by (up, n) to p (a, b), which has no such row"
      ])
    #expect(outcome.rows == [["a", 1, "x"], ["c", nil, "y"]])
  }

  @Test func stopNamesTheRecord() throws {
    do throws(UpsurgeError) {
      _ = try load(Self.tree, [[5, 9, "orphan"]], onError: .stop)
      Issue.record("the orphan was stored")
    } catch {
      #expect(error.position?.record == 1)
      #expect(error.code == .badInput)
    }
  }
}
