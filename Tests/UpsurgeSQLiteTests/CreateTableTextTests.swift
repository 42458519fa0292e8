import Testing
import UpsurgeSQLite

@Suite("What only the text of a table says") struct CreateTableTextTests {
  @Test("CHECKs, generated columns and deferred keys are found in the text of a table")
  func texts() {
    let text = CreateTableText(
      """
      CREATE TABLE t(a INTEGER CHECK (a > (1)), "b c" TEXT AS (CAST(a AS TEXT)) STORED, d TEXT DEFAULT 'CHECK (x)', -- CHECK (no)
        CONSTRAINT k CHECK(d <> ')'), e INTEGER GENERATED ALWAYS AS (a + 1), f INTEGER REFERENCES t DEFERRABLE INITIALLY DEFERRED,
        FOREIGN KEY (a, "b c") REFERENCES t(x, y) DEFERRABLE INITIALLY DEFERRED, FOREIGN KEY (d) REFERENCES t)
      """)
    #expect(text.deferredForeignKeys == [["F"], ["A", "B C"]].map { $0.map(SQLName.folded) })
    #expect(text.checks == ["a > (1)", "d <> ')'"])
    #expect(text.generated.count == 2)
    #expect(Set(text.generated.values) == ["CAST(a AS TEXT)", "a + 1"])
  }
}
