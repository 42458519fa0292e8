/// Which fields of a source are loaded and what their columns are called: `--columns` and `--rename`.
package struct FieldSelection: Sendable {
  private let wanted: [String]
  private let renames: [String: String]

  package init(options: LoadOptions) {
    wanted = options.columns
    renames = options.renames
  }

  /// The column of each field of a header; nil for fields that are not wanted.
  /// - Throws: `usage` when an option names a field that the header lacks, or two fields get one name.
  package func columnNames(of header: [String], file: String) throws(UpsurgeError) -> [String?] {
    try check(wanted, option: "--columns", against: header, file: file)
    try check(renames.keys.sorted(), option: "--rename", against: header, file: file)
    let wantedSet = Set(wanted.map { $0.lowercased() })
    var seen: Set<String> = []
    var names: [String?] = []
    for field in header {
      guard wantedSet.isEmpty || wantedSet.contains(field.lowercased()) else {
        names.append(nil)
        continue
      }
      let name = renames[field] ?? field
      if !seen.insert(name.lowercased()).inserted {
        throw UpsurgeError(
          .usage, "two fields of \(file) would go to the column \"\(name)\"",
          hint: "give one of them another name: --rename \(field)=NAME")
      }
      names.append(name)
    }
    return names
  }

  private func check(
    _ names: [String], option: String, against header: [String], file: String
  ) throws(UpsurgeError) {
    for name in names where !header.contains(where: { $0.lowercased() == name.lowercased() }) {
      throw UpsurgeError(
        .usage, "\(option) names \"\(name)\", which \(file) does not have",
        hint: "its fields are: \(header.joined(separator: ", "))")
    }
  }
}
