import ArgumentParser
import Upsurge
import UpsurgeBench

/// What is measured, as the words after `upsurge bench` say.
enum BenchSubject {
  /// This machine with SQLite.
  case suite(BenchJob.Suite)
  /// A server, by its URL.
  case server(String)

  /// - Throws: `ValidationError` for what is neither; a URL is not repeated, as it may hold a password.
  init(_ words: [String]) throws {
    let urls = words.filter { $0.contains(":") }
    let suites = words.filter { !$0.contains(":") }
    for word in suites where BenchJob.Suite(rawValue: word) == nil {
      throw ValidationError(
        """
        there is no suite \(word.escapedForTerminal): new, changed or unchanged
          fix: upsurge bench SUITE measures this machine, upsurge bench postgres://USER@HOST/DATABASE a server
        """)
    }
    if let url = urls.first {
      if words.count > 1 {
        throw ValidationError(
          """
          one server is measured at a time, and with rows of every kind
            fix: give its URL alone: upsurge bench postgres://USER@HOST/DATABASE
          """)
      }
      self = .server(url)
      return
    }
    if suites.count > 1 { throw ValidationError("one suite is measured at a time: new, changed or unchanged") }
    self = .suite(suites.first.flatMap { BenchJob.Suite(rawValue: $0) } ?? .new)
  }
}
