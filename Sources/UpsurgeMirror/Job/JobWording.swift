import Upsurge
import UpsurgeRecords

/// What the engine says, in the words of a job file: `--on-error reject` is `on-error: reject` there.
package enum JobWording {
  /// Terms whose key is called otherwise.
  private static let phrases: [Term: String] = [
    .alter: "contract: evolve", .atomic: "atomic: table", .stopAfter: "fewer records in the feed",
    .folderOrder: "folder.order", .folderDone: "folder.done",
  ]

  /// Keys that are true or false.
  package static let flags: Set<Term> = [
    .noHeader, .createKey, .anyKey, .strict, .inputOrder, .rowState, .allowEmpty,
  ]

  /// Keys that are lists of texts, in which `=` is a part of the text.
  private static let lists: Set<Term> = [.null, .bool]

  /// Such lists, where a value without `=` is a word for all columns.
  private static let marks: Set<Term> = [.decimal, .thousands]

  /// Keys of `guards`.
  private static let guards: Set<Term> = [
    .maxDelete, .minRows, .minRatio, .allowEmpty, .expectCount, .suspicious, .lineEnd, .trailer,
  ]

  /// Options that are said as they are typed: those of `upsurge mirror` itself, and what only other commands take.
  package static let typed: Set<Term> = [
    .acceptChange, .acceptDelivery, .dryRun, .verify, .summary, .explainTime, .explain, .resume, .history,
    .forget, .emitSQL,
    .maxStatement, .trustRules, .changes, .direct, .rowsPerStatement, .withoutWalk, .quiet, .verbose,
    .progress, .log,
    .metrics, .table, .check, .checkJob, .schema, .systemd, .cron, .at, .yes, .json, .salt, .maxAge, .file,
    .rows, .rounds, .compare,
    .scratch, .html, .except,
  ]

  package static func ofJob(_ wording: Wording) -> String { wording.text(naming: key) }

  /// A key of a job file, or an option where a job has no such key.
  package static func key(_ term: Term, _ value: String?) -> String {
    let name = term.rawValue
    if let phrase = phrases[term] { return phrase }
    if typed.contains(term) { return Wording.option(term, value) }
    let place = guards.contains(term) ? " in the guards" : ""
    if let value, !value.contains("'"), lists.contains(term) || marks.contains(term) && value.contains("=") {
      return "\(name): '\(value)'"
    }
    if flags.contains(term), value == nil { return "\(name): true\(place)" }
    return (value.map { "\(name): \(Self.value($0, of: term))" } ?? name) + place
  }

  /// `A,B` is `[A, B]`, and `OLD=NEW` is `{OLD: NEW}`. What a shell would have in quotes has those of YAML, where it needs any.
  private static func value(_ word: String, of term: Term) -> String {
    let isMapping = mappings.contains(term)
    let word = isMapping ? withoutShellQuotes(word) : word
    if word.contains(where: { "'\"".contains($0) }) { return word }
    if term == .type, let cut = word.lastIndex(of: ":"), cut != word.startIndex {
      return mapping(word[..<cut], word[word.index(after: cut)...])
    }
    let pair = word.split(separator: "=", maxSplits: 1)
    if pair.count == 2, isMapping { return mapping(pair[0], pair[1]) }
    let names = word.split(separator: ",")
    if names.count > 1 { return "[\(names.joined(separator: ", "))]" }
    return pair.count == 2 ? mapping(pair[0], pair[1]) : word
  }

  private static func mapping(_ name: some StringProtocol, _ value: some StringProtocol) -> String {
    "{\(inMapping(name)): \(inMapping(value))}"
  }

  /// Keys that take names and what holds for each, which may hold commas.
  private static let mappings: Set<Term> = [.rename, .type, .let, .date, .add, .set, .default]

  private static func withoutShellQuotes(_ word: String) -> String {
    guard word.utf8.count > 2, word.hasPrefix("'"), word.hasSuffix("'") else { return word }
    let inner = word.dropFirst().dropLast()
    return inner.contains("'") ? word : String(inner)
  }

  /// A text in a mapping that is written in one line.
  private static func inMapping(_ text: some StringProtocol) -> String {
    let isPlain =
      text.first.map { !"%@&*!|>#-?`:=".contains($0) } ?? false && !text.contains { ",{}[]#".contains($0) }
      && !text.contains(": ")
    return isPlain ? String(text) : "'\(text)'"
  }
}

extension UpsurgeError {
  /// The error in the words of a job file.
  var ofJob: UpsurgeError {
    var error = self
    error.said = Wording(JobWording.ofJob(said))
    error.remedy = remedy.map { Wording(JobWording.ofJob($0)) }
    return error
  }
}

extension MirrorJob {
  /// Says notes in the words of the job file, where there is one.
  func wording(_ note: @escaping @Sendable (RunNote) -> Void) -> @Sendable (RunNote) -> Void {
    if file == nil { return note }
    return { said in
      var said = said
      said.said = Wording(JobWording.ofJob(said.said))
      note(said)
    }
  }
}
