import CYAML
import Upsurge
import UpsurgePostgres

/// What `upsurge --version -v` prints: the libraries, and what cannot be done for want of one.
struct VersionText {
  /// What is linked, with its version.
  var linked: [(name: String, version: String)]
  /// What is opened when it is needed: `version` is nil where it cannot be used.
  var opened: [Opened]
  /// Whose iconv it is, and encodings that it does not know here.
  var iconv: String
  var missingEncodings: [String]

  struct Opened {
    var name: String
    var version: String?
    /// Why it cannot be used.
    var problem: String?
    /// What needs it: `https:// sources`.
    var need: String
    /// How it is installed.
    var installation: String
  }

  /// As this machine has them.
  init() {
    linked = [
      ("SQLite", Connection.version), ("zstd", InputLibraries.zstd), ("zlib", InputLibraries.zlib),
    ]
    var curl = Opened(
      name: "libcurl", need: "http:// and https:// sources",
      installation: "apt-get install libcurl4 (Debian, Ubuntu), dnf install libcurl (Fedora)")
    switch InputLibraries.curl {
    case .there(let version): curl.version = version
    case .missing(let problem): curl.problem = problem
    }
    var yaml = Opened(
      name: "libyaml", need: "job files",
      installation: "apt-get install libyaml-0-2 (Debian, Ubuntu), dnf install libyaml (Fedora)")
    if let problem = upsurge_yaml_load() {
      yaml.problem = String(cString: problem)
    } else {
      yaml.version = String(cString: upsurge_yaml_version())
    }
    var postgres = Opened(
      name: "libpq", need: "postgres:// databases",
      installation: "apt-get install libpq5 (Debian, Ubuntu), dnf install libpq (Fedora)")
    switch PostgresStores.library {
    case .there(let version): postgres.version = version
    case .missing(let problem): postgres.problem = problem
    }
    var archive = Opened(
      name: "libarchive", need: "zip, tar, xz, bzip2, lz4 and .Z files",
      installation: "apt-get install libarchive13 (Debian, Ubuntu), dnf install libarchive (Fedora)")
    switch InputLibraries.archive {
    case .there(let version): archive.version = version
    case .missing(let problem): archive.problem = problem
    }
    opened = [curl, archive, yaml, postgres]
    iconv = InputLibraries.iconv
    missingEncodings = InputLibraries.missingEncodings
  }

  init(
    linked: [(name: String, version: String)], opened: [Opened], iconv: String, missingEncodings: [String]
  ) {
    (self.linked, self.opened, self.iconv, self.missingEncodings) = (linked, opened, iconv, missingEncodings)
  }

  /// Lines of name, version and use; then what is missing, with what helps.
  var text: String {
    var lines = linked.map { line($0.name, $0.version, "") }
    lines += opened.map { line($0.name, $0.version ?? "missing", "for \($0.need)") }
    lines.append(line("iconv", iconv, "for other encodings than UTF-8"))
    var problems: [String] = []
    for library in opened where library.version == nil {
      problems.append("\(library.name) is missing: \(library.need) need it (\(library.problem ?? "")).")
      problems.append("  fix: \(library.installation)")
    }
    if !missingEncodings.isEmpty {
      problems.append("iconv does not know \(missingEncodings.joined(separator: ", ")) here.")
      problems.append(
        "  fix: install the C library's gconv modules (Debian, Ubuntu: libc-gconv-modules-extra)")
    }
    if !problems.isEmpty { problems.insert("", at: 0) }
    return (["upsurge \(upsurgeVersion)"] + lines + problems).joined(separator: "\n")
  }

  private func line(_ name: String, _ version: String, _ use: String) -> String {
    func padded(_ text: String, _ width: Int) -> String {
      text + String(repeating: " ", count: max(width - text.count, 0))
    }
    let words = "  " + padded(name, 11) + (use.isEmpty ? version : padded(version, 24) + "  " + use)
    return words
  }
}
