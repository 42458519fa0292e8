/// What the last delivery was made of, as every store notes it.
extension ChunkTable {
  package static let notes = NoteTable(
    layout,
    columns: [
      .init("table", isKey: true), .init("place", .integer, isKey: true), .init("head", .integer, isRequired: false),
      .init("hash", .bytes, isRequired: false), .init("bytes", .integer, isRequired: false),
      .init("lines", .integer, isRequired: false), .init("records", .integer), .init("keys", .bytes, isRequired: false),
    ])
}
