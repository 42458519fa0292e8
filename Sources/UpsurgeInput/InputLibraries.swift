import CArchive
import CCurl
import CIconv
import CZlib
import CZstd

/// The libraries by which sources are read, as they are on this machine.
package enum InputLibraries {
  /// A library that is opened when it is needed first.
  package enum LoadedLibrary: Sendable, Equatable {
    case there(version: String)
    /// Why it cannot be used: `libcurl is not installed`.
    case missing(String)
  }

  package static var zstd: String { String(cString: ZSTD_versionString()) }

  package static var zlib: String { String(cString: zlibVersion()) }

  /// The C library's, or another: `glibc 2.36`.
  package static var iconv: String { String(cString: upsurge_iconv_kind()) }

  /// Encodings of several bytes that iconv does not know here, of those that feeds are written in.
  package static var missingEncodings: [String] {
    ["SHIFT_JIS", "EUC-JP", "GB18030", "BIG5", "EUC-KR"].filter { name in
      guard let converter = upsurge_iconv_open(name) else { return true }
      upsurge_iconv_close(converter)
      return false
    }
  }

  /// libarchive: `3.6.2`.
  package static var archive: LoadedLibrary {
    if let problem = upsurge_archive_load() { return .missing(String(cString: problem)) }
    let words = String(cString: upsurge_archive_version()).split(separator: " ")
    return .there(version: words.last.map(String.init) ?? "")
  }

  /// libcurl with what encrypts: `7.88.1, OpenSSL/3.0.17`.
  package static var curl: LoadedLibrary {
    if let problem = upsurge_curl_load() { return .missing(String(cString: problem)) }
    let words = String(cString: upsurge_curl_version()).split(separator: " ")
    let own = words.first.map { $0.hasPrefix("libcurl/") ? $0.dropFirst("libcurl/".utf8.count) : $0 } ?? ""
    return .there(version: ([own] + words.dropFirst().prefix(1)).joined(separator: ", "))
  }
}
