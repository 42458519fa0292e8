import UpsurgeRecords

/// What is fetched, and how patiently.
package struct HTTPRequest: Sendable {
  /// `http://…` or `https://…`; may hold a user and a password. Not to be shown: see `shownURL`.
  package var url: String
  /// Sent besides our own; not to another server that a redirect leads to, except `Accept` and its like. Their values
  /// are shown nowhere.
  package var headers: [Header] = []
  /// What is known of the last delivery: the server may answer that nothing has changed since.
  package var validators = HTTPValidators()
  /// Whether credentials of the host are taken from `~/.netrc`, where the URL has none.
  package var usesNetrc = true
  /// Another file than `~/.netrc`.
  package var netrcPath: String?
  package var retry = Retry()
  package var timeouts = Timeouts()
  package var maximumRedirects = 10
  /// What of the URL, and of others that the server sends, may not be shown.
  package var mask = SecretMask()

  package init(url: String) { self.url = url }

  /// The URL as it may be shown and stored.
  package var shownURL: String { mask.shownURL(url) }

  package struct Header: Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// How often it is tried again, where that may help: the connection fails or breaks, or the server answers 408, 429 or
  /// 5xx. The waits double, and are shortened by up to a half at random, so that many clients do not come at once.
  package struct Retry: Sendable {
    /// Tries in all; those between which a MiB came count as the first.
    package var mostTries = 6
    package var firstSeconds = 1.0
    package var mostSeconds = 60.0
    /// A server that asks for a longer wait (Retry-After) is left alone.
    package var mostAskedSeconds = 300.0

    package init() {}
  }

  /// Seconds.
  package struct Timeouts: Sendable {
    package var connect = 30.0
    /// From the start of a request to its answer's first line.
    package var answer = 120.0
    /// Of a body: so long, less than `leastBytesPerSecond` may come. Time in which nobody reads does not count.
    package var stall = 60.0
    package var leastBytesPerSecond = 10.0

    package init() {}
  }

  /// - Throws: `usage` where a header could become another one.
  func validate() throws(UpsurgeError) {
    for header in headers {
      let isName =
        !header.name.isEmpty && header.name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3A }
      if !isName || header.value.utf8.contains(where: { $0 == 0x0D || $0 == 0x0A || $0 == 0 }) {
        throw UpsurgeError(
          .usage,
          "the header \(header.name.escapedForTerminal) cannot be sent: it has a line end, or no proper name",
          hint: "give NAME: VALUE in one line")
      }
    }
  }
}

/// How sources are opened: what http(s) ones are asked with, what commands get, which links are not followed, and what of
/// any source may not be shown.
package struct HTTPQuestion: Sendable {
  /// By name; the values are never shown.
  package var headers: [String: String] = [:]
  /// The validators of the last answer: the same content need not be sent again.
  package var validators = HTTPValidators()
  package var mask = SecretMask()
  /// Variables that a command gets beside the environment of this process: the secrets that it refers to.
  package var environment: [String: String] = [:]
  /// Folders whose files were found there and named by nobody, each with a slash at its end: a symbolic link in one of
  /// them is not followed, and what is no regular file is not read.
  package var foundFolders: [String] = []

  package init() {}

  /// Whether a file lies in one of `foundFolders`.
  func hasFound(_ name: String) -> Bool {
    foundFolders.contains {
      name.utf8.starts(with: $0.utf8) && !name.utf8.dropFirst($0.utf8.count).contains(0x2F)
    }
  }

  func request(to url: String) -> HTTPRequest {
    var request = HTTPRequest(url: url)
    request.headers = headers.sorted { $0.key < $1.key }.map { HTTPRequest.Header($0.key, $0.value) }
    request.validators = validators
    request.mask = mask
    return request
  }
}

/// What distinguishes one state of what a URL leads to from another.
package struct HTTPValidators: Sendable, Equatable {
  /// As the server has sent it, quotes included.
  package var etag: String?
  package var lastModified: String?

  package init(etag: String? = nil, lastModified: String? = nil) {
    self.etag = etag
    self.lastModified = lastModified
  }

  package var isEmpty: Bool { etag == nil && lastModified == nil }
}

/// The answer whose body is read.
package struct HTTPResponse: Sendable, Equatable {
  package var status: Int
  package var validators: HTTPValidators
  /// Bytes of the body as it is sent; nil where the server does not say.
  package var contentLength: UInt64?
  /// Whether a cut of the body is noticed: by its length or its last chunk. Without either, the end of the connection is
  /// the end of the body.
  package var provesEnd: Bool
  /// What the answer says its text is encoded in; nil where it does not.
  package var charset: String?

  package var etag: String? { validators.etag }
  package var lastModified: String? { validators.lastModified }
  /// Whether there is no body, as it is what the request's validators tell of.
  package var isNotModified: Bool { status == 304 }
}
