import Testing
import UpsurgeInput
import UpsurgeRecords

@Suite("Names of feeds")
struct FeedNameTests {
  @Test(
    "What is shown of a URL",
    arguments: [
      ("https://host/feed.csv", "https://host/feed.csv"),
      ("https://user:pw@host:8443/feed.csv?day=1", "https://***@host:8443/feed.csv?day=1"),
      ("HTTP://token@host/", "HTTP://***@host/"), ("http://u:p@ss@host/a@b", "http://***@host/a@b"),
      ("http://host/a@b:c", "http://host/a@b:c"), ("http://u:p/w@host/a", "http://***@host/a"),
      ("http://u:p?w#@host/a", "http://***@host/a"), ("http://[::1]:80/a@b", "http://[::1]:80/a@b"),
      (
        "https://h/a?access_token=abc&x=1&Api-Key=s&sig=z&SIGNATURE=9",
        "https://h/a?access_token=***&x=1&Api-Key=***&sig=***&SIGNATURE=***"
      ),
      (
        "https://h/a?X-Amz-Signature=ab%20&X-Amz-Credential=c&sigma=1",
        "https://h/a?X-Amz-Signature=***&X-Amz-Credential=***&sigma=1"
      ),
      // Marks, fragments and paths; names and values that are written as %XX; a URL in a URL.
      (
        "https://u:k@h/a;jsessionid=4;v=1/b?x=1;key=2#key=3",
        "https://***@h/a;jsessionid=***;v=1/b?x=1;key=***"
      ),
      ("https://h/a?%6Bey=1&a%5Fkey=2&x%=3", "https://h/a?%6Bey=***&a%5Fkey=***&x%=3"),
      (
        "https://h/a?next=https%3A%2F%2Fh%2Fb%3Ftoken%3D1&to=https%3A%2F%2Fh",
        "https://h/a?next=***&to=https%3A%2F%2Fh"
      ),
      ("https://h/a?x=1?key=2&key==3&key=", "https://h/a?x=1?key=***&key=***&key=***"),
      ("https://h/a?token&x=#part", "https://h/a?token&x="), ("https://h/a#access_token=1", "https://h/a"),
      (
        "exec:curl -u a:b 'https://u:p@h/a?token=1' | cat",
        "exec:curl -u a:b 'https://***@h/a?token=***' | cat"
      ),
      ("exec:cat a://b c", "exec:cat a://b c"), ("feed@home:1.csv", "feed@home:1.csv"), ("-", "-"),
      ("http://", "http://"),
    ])
  func redacts(name: String, shown: String) {
    #expect(SourceName.redacted(name) == shown)
    #expect(
      SourceName.place(of: SourceName.redacted(name)) == SourceName.place(of: name)
        || !Source(name).isFeed)
  }

  @Test(
    "A parameter that a person might call a secret is not shown, in whatever case",
    arguments: [
      "key", "api_key", "apikey", "apiKey", "Api-Key", "x-api-key", "subscription-key", "access_key",
      "accessKey",
      "AWSAccessKeyId", "token", "access_token", "refreshToken", "sig", "signature", "secret",
      "client_secret",
      "clientSecret", "password", "passwd", "passphrase", "pwd", "pass", "auth", "authkey", "authorization",
      "code",
      "auth_code", "credential", "credentials", "session", "session_id", "sessionid", "PHPSESSID", "sid",
      "jwt",
      "X-Amz-Signature", "X-Amz-Security-Token", "X-Amz-Credential", "X-Goog-Signature", "hmac", "otp",
      "bearer",
      "oauth_verifier", "user[password]", "licensekey", "userKey", "passkey", "passcode", "accesscode",
      "pswd",
      "nonce", "mac",
    ])
  func secretNames(name: String) {
    for name in [name, name.uppercased(), name.lowercased()] {
      #expect(SourceName.redacted("https://h/a?x=1&\(name)=hunter2&y=2") == "https://h/a?x=1&\(name)=***&y=2")
    }
  }

  @Test(
    "Others are shown",
    arguments: [
      "keyword", "monkey", "day", "country_code", "author", "passenger", "sigma", "design", "format", "page",
      "turkey", "zipcode", "machine", "sortkey",
    ])
  func openNames(name: String) {
    #expect(SourceName.redacted("https://h/a?\(name)=hunter2") == "https://h/a?\(name)=hunter2")
  }

  @Test("Which names are feeds")
  func kinds() {
    for name in ["http://h", "https://h/a b", "HTTPS://H", "exec:x", "exec:"] {
      #expect(Source(name).isFeed)
    }
    for name in ["http:/h", "http", "", "-", "./http://h", "ftp://h", "xexec:a", "EXEC:a", "file:///a"] {
      #expect(!Source(name).isFeed, "\(name)")
    }
    #expect(Source("exec:e\u{301}x").opening == .command("e\u{301}x"))
    #expect(SourceName.folder(of: "https://h/a") == nil)
    #expect(SourceName.place(of: "https://u:p@h/a", in: "/tmp") == "https://***@h/a")
    #expect(SourceName.shown("exec:a\nb") == "exec:a\\nb")
  }

  @Test("The list of sources takes them as they are, and says what is not fetched")
  func expands() throws {
    let sources: [Source] = ["https://h/a?x=[1]*", "exec:ls *.csv | cat", "-"]
    #expect(try SourceList.expand(sources) == sources)
    let ftp = try #require(throws: UpsurgeError.self) { try SourceList.expand(["ftp://u:p@h/*.csv"]) }
    #expect(
      ftp.description == "ftp://***@h/*.csv cannot be fetched: only http:// and https:// are, not ftp://\n"
        + "  fix: let a program fetch it: 'exec:COMMAND' reads what COMMAND writes")
    let file = try #require(throws: UpsurgeError.self) { try SourceList.expand(["file:///no/such.csv"]) }
    #expect(
      file.description
        == "file:///no/such.csv cannot be fetched: only http:// and https:// are, not file://\n"
        + "  fix: name the file by its path")
  }

  @Test("What to do about a format that is not read says how to fetch it")
  func pipes() throws {
    let error = try #require(throws: UpsurgeError.self) { try OpenedSource(name: "exec:printf 'LZIP\\001'") }
    #expect(
      error.description
        == "exec:printf 'LZIP\\001' is lzip, which is not read here\n  at exec:printf 'LZIP\\001', byte 0\n"
        + "  fix: upsurge load DB TABLE 'exec:COMMAND | lzip -dc'")
  }
}
