import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that is replaced as a whole, so that whoever reads it never sees half of one.
struct PageFile {
  let path: String
  private let noun: String
  private let isForOthers: Bool
  private let file: SummaryFile

  /// Makes the file beside it, so that a path that cannot be written costs nothing.
  /// - Parameters:
  ///   - noun: what the file is, for messages.
  ///   - isForOthers: whether everybody may read it, whatever the umask says.
  /// - Throws: `cannotCreate`.
  init(_ path: String, option: Wording, noun: String, isForOthers: Bool = false) throws(UpsurgeError) {
    self.path = path
    self.isForOthers = isForOthers
    self.noun = noun
    file = try SummaryFile(opening: path + ".tmp", option: option, noun: noun)
  }

  /// - Returns: false when the system refuses, which has been said.
  func write(_ bytes: [UInt8]) -> Bool {
    guard file.write(bytes) else { return false }
    // Who may read the file that it replaces may read it.
    var status = stat()
    if isForOthers {
      fchmod(file.descriptor, 0o644)
    } else if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
      fchmod(file.descriptor, status.st_mode & 0o777)
    }
    if rename(path + ".tmp", path) == 0 { return true }
    let reason = String(cString: strerror(errno))
    Terminal.say("upsurge: cannot write the \(noun) \(Terminal.visible(path)): \(reason)\n")
    return false
  }
}
