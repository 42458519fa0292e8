/// What is noted of each row that a feed has delivered, as every store notes it.
extension RowStateTable {
  package static let notes = NoteTable(
    layout,
    columns: [
      .init("key", isKey: true), .init("table", isKey: true), .init("owned_by", isKey: true),
      .init("key_columns"),
      .init("source"), .init("run", .integer, isRequired: false), .init("gone", .integer),
      .init("stored", .integer),
      .init("content", .integer, isRequired: false), .init("content_columns", isRequired: false),
      .init("edit", isRequired: false),
    ])
}
