/// The version of the library and the command (semantic versioning).
public let upsurgeVersion = "0.1.0"
