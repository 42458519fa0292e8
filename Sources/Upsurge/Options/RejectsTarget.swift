/// Where rejected records are kept.
public enum RejectsTarget: Sendable, Equatable {
  /// A file of NDJSON, made anew: a line that says how the records were read and were to be stored, then a record a
  /// line.
  case file(String)
  /// The table `upsurge_rejects` of the database, in the transactions of the records around them.
  case table

  /// `table`, or the path of a file; a file of that name is `./table`.
  public init(text: String) { self = text == "table" ? .table : .file(text) }

  /// One text for the target, however it was spelled: `table`, the path from the root, or a stream as it was given.
  package var place: String {
    switch self {
    case .table: "table"
    case .file(let path):
      path == "-" || path.utf8.starts(with: "/dev/".utf8) ? path : SourceName.place(of: path)
    }
  }
}
