/// Keys that are options of `upsurge load` and have no place in a job file, with the reason.
enum RefusedKey {
  static func reason(_ key: String) -> String? {
    switch key {
    case "tables", "defaults": return "it belongs at the top of the file, not into a table"
    case "database": return "the database is said on the command line: upsurge mirror DB JOB"
    case "table", "name": return "a table's name is its key under tables"
    default:
      for option in OptionCatalogue.all where option.name == key {
        if case .refused(let reason) = option.place { return reason }
      }
      return nil
    }
  }
}
