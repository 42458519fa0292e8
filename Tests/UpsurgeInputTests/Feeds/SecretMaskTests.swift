import Testing
import UpsurgeRecords

@testable import UpsurgeInput

@Suite("What stands in the place of secrets") struct SecretMaskTests {
  private let command = "exec:mysql -pit's -e 'SELECT 1'"
  private var mask: SecretMask {
    SecretMask(
      sources: [
        Source(command, shown: "exec:mysql -p${env:PW} -e 'SELECT 1'"),
        Source("https://h/ab/f.csv", shown: "https://h/${env:T}/f.csv"),
        Source("https://u:p@h/", shown: "${env:URL}"), Source("/data/abcd/f.csv", shown: "/data/${env:D}/f.csv"),
      ],
      values: [
        "it's": "${env:PW}", "it's more": "${env:LONG}", "ab": "${env:T}", "abcd": "${env:D}",
        "${env:": "${env:ODD}", "Tenant": "${env:HOST}",
      ])
  }

  @Test("A feed goes by its shown name, a file by its path")
  func names() {
    #expect(mask.name(command) == "exec:mysql -p${env:PW} -e 'SELECT 1'")
    // Short values, too.
    #expect(mask.name("https://h/ab/f.csv") == "https://h/${env:T}/f.csv")
    // It stays one of a URL.
    #expect(mask.name("https://u:p@h/") == "https://${env:URL}")
    #expect(mask.name("/data/abcd/f.csv") == "/data/abcd/f.csv")
    #expect(mask.name("https://u:p@other/abcd") == "https://***@other/${env:D}")
    #expect(SecretMask().name("https://u:p@h/") == "https://***@h/")
  }

  @Test(
    "In texts values are found wherever they stand, the longest first, and what was put in is not searched",
    arguments: [
      ("cannot log in with it's", "cannot log in with ${env:PW}"),
      ("it's more", "${env:LONG}"),
      ("sh -c 'mysql -pit'\\''s'", "sh -c 'mysql -p${env:PW}'"),
      ("there is no /data/abcd/f.csv", "there is no /data/${env:D}/f.csv"),
      ("abcdabcd", "${env:D}${env:D}"),
      ("a cab in ab", "a cab in ab"),
      ("no host tenant.example.com", "no host ${env:HOST}.example.com"),
      ("IT'S NOT ALLOWED", "${env:PW} NOT ALLOWED"), ("/a?key=it%27s", "/a?key=${env:PW}"),
      ("it'", "it'"), ("", ""),
    ])
  func texts(text: String, expected: String) { #expect(mask.masked(text) == expected) }

  @Test("Of an error every text")
  func errors() {
    let error = UpsurgeError(
      .badInput, "abcd failed", position: Position(file: "/abcd", line: 2), snippet: "x abcd",
      hint: "try abcd")
    let masked = mask.masked(error)
    #expect(masked.description == error.description.replacing("abcd", with: "${env:D}"))
    #expect(SecretMask().masked("abcd") == "abcd" && SecretMask().isEmpty && !mask.isEmpty)
  }
}
