import Testing
import UpsurgeRecords

@Suite("Keys of names")
struct NameKeyTests {
  @Test(
    "Names are one as SQLite has it: ASCII letters in any case, everything else byte by byte",
    arguments: [
      ("select", "SELECT", true), ("a", "b", false), ("É", "é", false), ("é", "e\u{301}", false), ("ÉA", "Éa", true),
      ("\u{212B}", "\u{C5}", false), ("", "", true), ("Ã©", "é", false), ("a\"\u{301}", "A\"\u{301}", true),
    ])
  func sameness(left: String, right: String, isSame: Bool) {
    #expect((left.nameKey == right.nameKey) == isSame)
    #expect((Set([left.nameKey, right.nameKey]).count == 1) == isSame)
  }
}
