/// Which fields of a source are loaded and what their columns are called: `--columns` and `--rename`.
package struct FieldSelection: Sendable {
  private let wanted: [String]
  private let computed: [String]
  /// New names by the old ones, folded as SQLite folds names.
  private let renames: [String: String]
  private let renamed: [String]
  /// Fields of a feed that may be gone.
  private let leaving: Set<String>
  /// Their columns.
  private let leavingColumns: Set<String>
  /// Columns that other files of the run have.
  private let elsewhere: ColumnsElsewhere

  package init(options: LoadOptions) {
    wanted = options.table.columns
    elsewhere = options.environment.columnsElsewhere
    computed = options.table.computedColumns.map(\.name)
    renamed = options.table.renames.keys.sorted()
    let mayLeave = options.delivery.feed?.policy == .keep || options.delivery.feed?.policy == .null
    leaving = mayLeave ? Set((options.delivery.feed?.last?.fields ?? []).map(SQLName.folded)) : []
    leavingColumns = Set(leaving.map { SQLName.folded(FeedRules.column(of: $0, options: options)) })
    renames = Dictionary(options.table.renames.map { (SQLName.folded($0.key), $0.value) }) { first, _ in first
    }
  }

  /// The column of each field of a header; nil for fields that are not wanted. An empty file has none, and lacks none.
  /// - Throws: `usage` when an option names a field that the header lacks, or two fields get one name.
  package func columnNames(of header: [String], file: String) throws(UpsurgeError) -> [String?] {
    if header.isEmpty { return [] }
    try check(wanted, option: "\(.columns)", against: header, file: file)
    try check(renamed, option: "\(.rename)", against: header, file: file)
    let wantedSet = Set(wanted.map(SQLName.folded))
    var seen: Set<String> = []
    var names: [String?] = []
    for field in header {
      guard wantedSet.isEmpty || wantedSet.contains(SQLName.folded(field)) else {
        names.append(nil)
        continue
      }
      let name = renames[SQLName.folded(field)] ?? field
      if !seen.insert(SQLName.folded(name)).inserted {
        throw UpsurgeError(
          .usage, "two fields of \(file) would go to the column \"\(name)\"",
          hint: "give one of them another name: \(.rename, "\(field)=NAME".quotedForShell)")
      }
      names.append(name)
    }
    return names
  }

  /// - Parameter names: the columns of the fields, as `columnNames` has found them.
  /// - Throws: `usage` where a format is for a column that no field fills, in this file and all others of the run.
  func checkFormats(_ values: ValueFormats, against names: [String?], file: String) throws(UpsurgeError) {
    let lacking = formats(values, lackedBy: names)
    guard let first = lacking.first(where: { !elsewhere.holds($0.name) }) else { return }
    throw UpsurgeError(
      .usage,
      "\(saying: first.term) names the column \"\(first.name.escapedForTerminal)\", for which \(file) has no field",
      hint: "its columns are: \(Self.list(names.compactMap { $0 }))")
  }

  /// The columns with a format that no field of a file fills; none for a file without fields.
  func formats(_ values: ValueFormats, lackedBy names: [String?]) -> [(name: String, term: Term)] {
    if names.isEmpty { return [] }
    let known = Set(names.compactMap { $0.map(SQLName.folded) }).union(leavingColumns)
    return values.namedColumns.filter { !known.contains(SQLName.folded($0.name)) }
  }

  /// - Throws: `usage` where a field fills a column that is to be added.
  func checkAdded(_ table: LoadOptions.Table, against names: [String?], file: String) throws(UpsurgeError) {
    guard let name = names.lazy.compactMap({ $0 }).first(where: table.isAdded) else { return }
    throw UpsurgeError(
      .usage, "\(.add) fills the column \"\(name.escapedForTerminal)\", for which \(file) has a field",
      hint:
        "\(.add, "COL=…") may name another column; \(.rename, "\(name)=NAME".quotedForShell) gives the field another name"
    )
  }

  /// The first names, and how many more there are.
  /// Names as an option takes them, and a shell its words: `id,tree`, `'id,"a, b"'`.
  static func option(_ names: [String]) -> String {
    let marks: [Unicode.Scalar] = [",", "\"", "(", ")", " ", "\t"]
    return names.map { name in
      guard name.unicodeScalars.contains(where: marks.contains) else { return name }
      return "\"\(name.replacing("\"", with: "\"\""))\""
    }.joined(separator: ",").escapedForTerminal.quotedForShell
  }

  static func list(_ names: [String]) -> String {
    let shown = 50
    let rest = names.count > shown ? ", and \(names.count - shown) more" : ""
    return names.prefix(shown).joined(separator: ", ") + rest
  }

  private func check(
    _ names: [String], option: Wording, against header: [String], file: String
  ) throws(UpsurgeError) {
    if names.isEmpty { return }
    let known = Set(header.map(SQLName.folded))
    for name in names where !known.contains(SQLName.folded(name)) && !leaving.contains(SQLName.folded(name)) {
      let said: Wording = "\(saying: option) names \"\(name)\", which \(file) does not have"
      if names == wanted, computed.contains(where: { SQLName.isSame($0, name) }) {
        throw UpsurgeError(
          .usage, said,
          hint:
            "leave \(name) out: columns of \(.let) are stored in any case; its fields are: \(Self.list(header))"
        )
      }
      throw UpsurgeError(
        .usage, said,
        hint: "its fields are: \(Self.list(header))")
    }
  }
}
