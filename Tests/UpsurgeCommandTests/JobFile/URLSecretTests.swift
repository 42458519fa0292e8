import Testing

@testable import UpsurgeCommand

/// Secrets in URLs stay in the place that the job file gives them.
@Suite("Secrets in URLs") struct URLSecretTests {
  private func expand(_ text: String, _ value: String) throws -> (text: String, shown: [String: String]) {
    var found = JobSecrets.Found()
    let secrets = JobSecrets(paths: JobPaths(file: "job.yaml")) { _ in value }
    let place = JobPlace(file: "job.yaml", line: 1, column: 1)
    let expanded = try secrets.expand(text, path: "source", place: place, noting: &found)
    return (expanded, found.shown)
  }

  @Test(
    "No part of a value becomes another part of the URL",
    arguments: [
      ("http://user:${env:PW}@h:1/a.csv", "p@evil:8767/x", "http://user:p%40evil:8767%2Fx@h:1/a.csv"),
      ("https://${env:PW}@h/a.csv", "user:p w?#", "https://user:p%20w%3F%23@h/a.csv"),
      ("http://user:${env:PW}@h/a", "p%40w", "http://user:p%40w@h/a"),
      ("postgres://user:${env:PW}@h/d#t", "p@w/x", "postgres://user:p%40w%2Fx@h/d#t"),
      ("postgres://h/d?password=${env:PW}#t", "a&b", "postgres://h/d?password=a%26b#t"),
      ("postgres://h/d?query=SELECT ${env:PW}", "'a&b' AS x", "postgres://h/d?query=SELECT 'a&b' AS x"),
      ("http://user:${env:PW}@h/a", "50%", "http://user:50%25@h/a"),
      ("http://h/a?token=${env:PW}&x=1", "ab&cd#ef%41+", "http://h/a?token=ab%26cd%23ef%41%2B&x=1"),
      ("http://h/a?${env:PW}", "a=1&b=2", "http://h/a?a=1&b=2"),
      ("http://h/a?x=1&${env:PW}", "b=2&c=#", "http://h/a?x=1&b=2&c=%23"),
      ("http://h/${env:PW}/b.csv", "a b/c?d\u{E9}", "http://h/a%20b/c?d%C3%A9/b.csv"),
      ("${env:PW}/b.csv", "http://u:p@h/a?b#c", "http://u:p@h/a?b#c/b.csv"),
      ("https://${env:PW}/b.csv", "h:8080", "https://h:8080/b.csv"),
      ("data/${env:PW}.csv", "a b&c#d", "data/a b&c#d.csv"),
      ("Bearer ${env:PW}", "a b&c", "Bearer a b&c"),
    ])
  func places(text: String, value: String, expected: String) throws {
    let (expanded, shown) = try expand(text, value)
    #expect(expanded == expected)
    // What is masked in messages is masked in either spelling.
    #expect(shown[value] == "${env:PW}")
    #expect(shown.keys.allSatisfy { $0 == value || expanded.contains($0) })
  }
}
