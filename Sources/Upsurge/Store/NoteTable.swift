/// A table of the engine's own, as every store has it: what SQLite keeps in a column of it, a server keeps in one of that name.
package struct NoteTable: Sendable {
  /// A column, and what it holds.
  package struct Column: Sendable {
    package enum Kind: Sendable {
      case text, integer, bytes
    }

    package let name: String
    package let kind: Kind
    /// Whether it is part of the primary key.
    package let isKey: Bool
    /// Whether each row has a value there.
    package let isRequired: Bool

    package init(_ name: String, _ kind: Kind = .text, isKey: Bool = false, isRequired: Bool = true) {
      (self.name, self.kind, self.isKey, self.isRequired) = (name, kind, isKey, isRequired)
    }
  }

  package let name: String
  /// The number of the layout, as in SQLite.
  package let layout: Int
  package let columns: [Column]

  package init(_ layout: OwnLayout, columns: [Column]) {
    (name, self.layout, self.columns) = (layout.name, layout.number, columns)
  }

  package var keyNames: [String] { columns.filter(\.isKey).map(\.name) }
}
