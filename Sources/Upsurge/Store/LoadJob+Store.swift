#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What depends on the store of a job's database.
extension LoadJob {
  /// The file beside which sources wait that are read ahead: the database, or one in the folder for temporary files.
  var spoolNeighbour: String {
    if StoreRegistry.provider(of: database) == nil { return database }
    return (getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp") + "/upsurge"
  }

  /// One name for the database however it was spelled, without its password.
  package var databasePlace: String {
    StoreRegistry.provider(of: database) == nil ? SourceName.place(of: database) : shownDatabase
  }
}
